import { z } from 'zod';
import { OPERATIONS } from '../../domain/statuses.ts';
import { CHALLENGE_TYPE, MANIFEST_TYPE, TEST_TYPE } from './renderable.ts';

const amount = z
  .string()
  .regex(/^\d+\.\d{2}$/)
  .describe('a decimal text with two decimals, never a float');
const text = z.string().nullable();
const instant = z.iso.datetime({ offset: true }).describe('ISO 8601 with an offset');
const status = z
  .string()
  .describe('pending, in_process, in_analysis, paid, denied, canceled, expired or refund; be ready for another');

/** Marks an example. */
const test = z.literal(true).optional().describe('an example that you asked for: answer it with 2xx and do nothing');

/** The transaction of a message, as of its event. */
export const eventTransactionSchema = z.object({
  id: z.string().describe('the same in every event of the transaction'),
  operation: z.enum(OPERATIONS).describe('cashin: received; cashout: sent'),
  status: status.describe('the status that this event brought'),
  amount,
  commission: amount.nullable().describe('what the provider keeps; null: not known yet'),
  net: z.string().describe('cashin: amount − commission; cashout: amount + commission'),
  currency: z.literal('BRL'),
  reference: text,
  extra: text,
  platform: text,
  e2e_id: text.describe('the end-to-end id of PIX; often empty until paid'),
  pix_key: text,
  name: text,
  email: text,
  phone: text,
  document: text.describe('CPF or CNPJ; a CNPJ may hold letters'),
  description: text,
  created_at: instant,
  status_at: instant.describe('when this event happened'),
  sequence: z
    .int()
    .min(1)
    .describe(
      '1, 2, 3… in the order in which we learnt the events; messages may come in another order: detect repeats by webhook-id',
    ),
  current_status: status.describe('what we know now, which may be further than this event'),
});

/** Body of a callback about a change of a transaction. Fields may be added: a reader ignores those it does not know. */
export const transactionEventSchema = z
  .object({
    type: z
      .string()
      .regex(/^pix\.(cashin|cashout)\.\S+$/)
      .describe('pix.<operation>.<status>'),
    timestamp: instant.describe('when the event happened'),
    test,
    data: z.object({
      transaction: eventTransactionSchema,
      previous_status: status.nullable().describe('null: the first event'),
      source: z.enum(['webhook', 'reconciliation']).describe('how we learnt of it'),
    }),
  })
  .meta({ title: 'A change of a transaction' });

/** Facts that a correction can change. */
export const correctedFactsSchema = z.object({
  operation: z.enum(OPERATIONS),
  status,
  status_at: instant,
  amount,
  commission: amount.nullable(),
  reference: text,
  platform: text,
});

/** Body of a callback about a correction, by a person or by a later history. */
export const correctionEventSchema = transactionEventSchema
  .extend({
    type: z
      .string()
      .regex(/^pix\.(cashin|cashout)\.corrected$/)
      .describe('pix.<operation>.corrected'),
    timestamp: instant.describe('when it was corrected'),
    data: transactionEventSchema.shape.data.extend({
      before: correctedFactsSchema.describe('what you were sent before'),
      after: correctedFactsSchema.describe('what is right'),
    }),
  })
  .meta({ title: 'A correction of a transaction' });

const day = z.iso.date().describe("of the provider's calendar");
const state = z.string().describe('open, paid, underpaid, overpaid, paid_twice, …; be ready for another');
const signedAmount = z.string().regex(/^-?\d+\.\d{2}$/);

export const REASON_CODE_MEANS =
  'a stable name of the reason; unpaid_candidates and not_proven_candidates: there is a payment that may be its own, so ask for no other yet; unfindable and platform_unseen: no payment can be found for it, so it may be paid';

export const DISPUTED_MEANS = 'as of now: a payment fits this one and others, so it does not count for this one';

/** The expected payment of a message, as of its change. */
export const expectedPaymentSchema = z.object({
  id: z.string().describe('the same in every message about it'),
  source: z.string(),
  number: z.string(),
  operation: z.enum(OPERATIONS),
  amount,
  currency: z.literal('BRL'),
  due_day: day,
  issued_day: day,
  valid_until: day.nullable(),
  platform: text,
  references: z.array(z.string()),
  e2e_ids: z.array(z.string()),
  extra: text,
  document: text,
  name: text,
  description: text,
  invoice_key: text,
  revised_at: instant.nullable(),
  version: z.int().describe('of its facts'),
  created_at: instant,
  state: state.describe('the state that this change brought'),
  reason_code: text.describe(REASON_CODE_MEANS),
  state_at: instant.describe('when it changed'),
  sequence: z.int().min(1).describe('rises from change to change; some changes have no message'),
  paid: amount,
  refunded: amount,
  difference: signedAmount.describe('paid − amount'),
  matches: z.array(z.object({ transaction_id: z.string(), amount, rule: z.string() })),
  current_state: state.describe('what we know now'),
  disputed: z.boolean().describe(DISPUTED_MEANS),
});

/** Body of a callback about a change of an expected payment's state. */
export const expectedEventSchema = z
  .object({
    type: z
      .string()
      .regex(/^pix\.expected\.\S+$/)
      .describe('pix.expected.<state>'),
    timestamp: instant.describe('when the state changed'),
    test,
    data: z.object({ expected_payment: expectedPaymentSchema }),
  })
  .meta({ title: 'A change of an expected payment' });

export const testEventSchema = z
  .object({
    type: z.literal(TEST_TYPE),
    timestamp: instant,
    test: z.literal(true),
    data: z.object({ message: z.string() }),
  })
  .meta({ title: 'A test: answer it with 2xx and do nothing' });

export const challengeEventSchema = z
  .object({
    type: z.literal(CHALLENGE_TYPE),
    timestamp: instant,
    test: z.literal(true),
    data: z.object({ challenge: z.string() }),
  })
  .meta({ title: 'A challenge of a new address: answer 2xx and {"challenge": data.challenge}' });

/** A day manifest's text. */
export const manifestSchema = z.object({
  version: z.union([z.literal(1), z.literal(2)]).describe('1: signed by itself; 2: in the log'),
  merchant: z.string(),
  day: z.iso.date().describe('a message belongs to the day of its timestamp in the zone'),
  zone: z.string().describe('an IANA time zone'),
  revision: z.int().min(1).describe('1, 2, 3…: a later one replaces it'),
  made_at: instant,
  messages: z.int(),
  types: z.array(
    z.object({
      type: z.string(),
      count: z.int(),
      sum_cents: z.string().regex(/^\d+$/).describe('of the amounts of their transactions as known at made_at'),
    }),
  ),
  ids_sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('SHA-256 of the webhook-ids, sorted by bytes, each with a line feed'),
  proven: z.boolean().describe('the day was read or counted at the provider after its end'),
  closed: z.boolean().describe('so were all days whose transactions may still change it'),
  messages_sha256: z
    .string()
    .optional()
    .describe('SHA-256 of lines of id, type and cents, sorted by id, each with a line feed; not in version 1'),
  chain: z
    .object({ position: z.int(), hash: z.string() })
    .nullable()
    .describe("the newest position of the ledger's hash chain"),
  salt: z.string().optional().describe('random; not in version 1'),
});

/** A day manifest: its text, the same as an object beside it, and its proof; one of version 1 is a JWS in its general form (RFC 7515). */
export const signedManifestSchema = z.object({
  manifest: manifestSchema.describe('what payload says, for reading; verify payload'),
  payload: z.string().describe('base64url'),
  proof: z.string().nullable().optional().describe('c2sp.org/tlog-proof@v1; null: not in the log yet, fetch it'),
  signatures: z
    .array(z.object({ protected: z.string(), signature: z.string() }))
    .optional()
    .describe('of version 1: Ed25519, one for each key'),
});

export const manifestEventSchema = z
  .object({
    type: z.literal(MANIFEST_TYPE),
    timestamp: instant.describe('when it was made'),
    test,
    data: signedManifestSchema,
  })
  .meta({ title: 'The manifest of a day' });

/** Every body of a callback. */
export const callbackBodySchema = z.union([
  correctionEventSchema,
  transactionEventSchema,
  expectedEventSchema,
  manifestEventSchema,
  testEventSchema,
  challengeEventSchema,
]);

/** The flat body that the provider posts, as its public clients read it. A text that is not known is empty. */
export const providerBodySchema = z
  .object({
    id: z.int().describe('of the message: the same on every try; up to 2^53'),
    transaction_id: z.string(),
    transaction_amount: z.string().describe('a decimal text with two decimals'),
    transaction_e2e_id: z.string(),
    transaction_operation: z.enum(['in', 'out']),
    transaction_reference: z.string(),
    extra: z.string(),
    date_created: z.string().describe("when this status began, on the provider's clock: YYYY-MM-DD HH:mm:ss"),
    status: z.string(),
    path: z.string().describe("of the transaction in the provider's API"),
    test: z.literal(true).optional().describe('an example that you asked for: answer it with 2xx and do nothing'),
  })
  .meta({ title: 'A change of a transaction, as the provider posts it' });
