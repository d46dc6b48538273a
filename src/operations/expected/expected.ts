/** Payments that somebody owes us, or we owe, before the provider knows of them. */
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { cancelExpected, reopenExpected } from '../../expected/cancel-expected.ts';
import { expectedFactsSchema, expectedKeySchema } from '../../expected/expected-fields.ts';
import { type ExpectedKey, idOf } from '../../expected/expected-id.ts';
import { matchExpected, unmatchExpected } from '../../expected/match-by-hand.ts';
import { isChange, putExpected } from '../../expected/put-expected.ts';
import { refuse } from '../../texts/refuse.ts';
import { type By, defineChange } from '../define-change.ts';
import { created, ok } from '../describe-operation.ts';
import { amount } from '../fields.ts';
import { parseInput } from '../parse-input.ts';
import { expectedPayment } from '../rows/expected.ts';
import { BY_KEY, requireSource, showExpected } from './read-expected.ts';

const [OK, CREATED] = [200, 201];
/** Roles that write expected payments. */
export const writers = ['operator', 'accountant'] as const;

/** The key that the address has. @throws ConfereError `invalid_request`, `forbidden`. */
function keyOf({ params, caller }: Pick<By, 'params' | 'caller'>): ExpectedKey {
  const key = parseInput(params, expectedKeySchema);
  requireSource(caller, key.source);
  return key;
}

/** The parts of a change of one that is known already. */
const changesOne = {
  roles: writers,
  answers: ok('It', expectedPayment),
  answer: (context: Context, _made: unknown, { by }: { by: By }) => showExpected(context, by.id, by.caller),
} as const;

export const putOne = defineChange({
  name: 'expected.put',
  roles: writers,
  route: `PUT ${BY_KEY}`,
  summary:
    'Expect a payment, or replace all facts of one. Equal facts change nothing. 409 for other facts of a cancelled one. A payment with a key that one in `competing` has too counts for none of them. Matching follows within a second: while `decided` is false, `disputed` and the like are those of before',
  input: expectedFactsSchema,
  answers: { ...ok('Known', expectedPayment), ...created('New', expectedPayment) },
  refuses: ['expected_cancelled', 'expected_operation'],
  isForSources: true,
  async change(inner, facts, by) {
    const { id: actor, merchantSeq } = by.caller;
    const [outcome] = await putExpected(inner, { arrivals: [{ ...keyOf(by), facts }], actor, merchantSeq });
    if (!outcome) throw refuse('expected_unknown');
    const { status } = outcome;
    if (status === 'expected_cancelled' || status === 'expected_operation') throw refuse(status);
    return outcome;
  },
  target: (outcome) => (isChange(outcome) ? outcome.id : undefined),
  status: ({ status }) => (status === 'created' ? CREATED : OK),
  answer: async (context, { id, status }, { by }) => ({
    ...(await showExpected(context, id, by.caller)),
    ...(status === 'superseded' ? { superseded: true } : {}),
  }),
});

export const cancelOne = defineChange({
  ...changesOne,
  name: 'expected.cancel',
  route: `DELETE ${BY_KEY}`,
  summary:
    'Cancel an expected payment. One that is paid becomes paid_after_cancel, unless another cancelled one has its key: nothing is refunded',
  isForSources: true,
  change: async (inner, _given, by) => {
    const id = by.params?.number === undefined ? by.id : idOf(inner.keys, keyOf(by));
    return { id, isChanged: await cancelExpected(inner, { id, actor: by.caller.id }) };
  },
  target: ({ id, isChanged }) => (isChanged ? id : undefined),
  answer: (context, { id }, { by }) => showExpected(context, id, by.caller),
});

const why = z
  .string('must say why')
  .optional()
  .transform((note) => note ?? '')
  .describe('why; required: 422 note_missing without it');
const IS_ID = 'must be the id of a transaction';
const transactionId = z.string(IS_ID).min(1, IS_ID).describe('its id, or its E2E id');

export const reopenOne = defineChange({
  ...changesOne,
  name: 'expected.reopen',
  route: 'POST /expected-payments/{id}/reopen',
  summary: 'Take a cancellation back',
  input: z.strictObject({ note: why }),
  isForSources: true,
  async change(inner, { note }, { id, caller }) {
    if (caller.sources) await showExpected(inner, id, caller);
    return await reopenExpected(inner, { id, actor: caller.id, note });
  },
  target: (isChanged, { id }) => (isChanged ? id : undefined),
});

export const matchOne = defineChange({
  ...changesOne,
  name: 'expected.match',
  route: 'POST /expected-payments/{id}/match',
  summary: 'Match a payment, or a part of it',
  input: z.strictObject({
    transaction_id: transactionId,
    note: why,
    amount: amount
      .refine((cents) => cents > 0n, 'must be more than zero')
      .optional()
      .describe('a part of the payment; without it, what is left of it'),
  }),
  refuses: ['transaction_unknown', 'transaction_matched'],
  change: (inner, { transaction_id, amount, note }, { id, caller }) =>
    matchExpected(inner, { id, transactionId: transaction_id, amountCents: amount, actor: caller.id, note }),
});

export const unmatchOne = defineChange({
  ...changesOne,
  name: 'expected.unmatch',
  route: 'POST /expected-payments/{id}/unmatch',
  summary: 'Undo the matches of a pair: the rules keep it apart',
  input: z.strictObject({ transaction_id: transactionId, note: why }),
  refuses: ['transaction_unknown', 'match_undone'],
  change: (inner, { transaction_id, note }, { id, caller }) =>
    unmatchExpected(inner, { id, transactionId: transaction_id, actor: caller.id, note }),
});
