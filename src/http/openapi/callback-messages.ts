import { z } from 'zod';
import {
  challengeEventSchema,
  correctedFactsSchema,
  correctionEventSchema,
  eventTransactionSchema,
  expectedEventSchema,
  expectedPaymentSchema,
  manifestEventSchema,
  providerBodySchema,
  testEventSchema,
  transactionEventSchema,
} from '../../callbacks/render/event-schema.ts';
import { CHALLENGE_TYPE, EXPECTED_TYPE, MANIFEST_TYPE, TEST_TYPE } from '../../callbacks/render/renderable.ts';
import { OPERATIONS, STATUSES } from '../../domain/statuses.ts';
import { EXPECTED_STATES } from '../../expected/decide/decide-state.ts';
import { components } from '../../operations/rows/row-fields.ts';

eventTransactionSchema.register(components, { id: 'CallbackTransaction' });
expectedPaymentSchema.register(components, { id: 'CallbackExpectedPayment' });
correctedFactsSchema.register(components, { id: 'CorrectedFacts' });

/** A message to a merchant's address. */
export type CallbackMessage = {
  type: string;
  summary: string;
  body: z.ZodType;
  /** Beside CALLBACK_HEADERS. */
  headers?: Record<string, string>;
};

/** All messages. A new status of the provider adds a type of the same shape. */
export const CALLBACK_MESSAGES: readonly CallbackMessage[] = [
  ...OPERATIONS.flatMap((operation) => [
    ...STATUSES.map((status) => ({
      type: `pix.${operation}.${status}`,
      summary: `A ${operation} became ${status}`,
      body: transactionEventSchema.extend({ type: z.literal(`pix.${operation}.${status}`) }),
    })),
    {
      type: `pix.${operation}.corrected`,
      summary: `Facts of a ${operation} were corrected`,
      body: correctionEventSchema.extend({ type: z.literal(`pix.${operation}.corrected`) }),
    },
  ]),
  ...EXPECTED_STATES.filter((state) => state !== 'not_proven').map((state) => ({
    type: `${EXPECTED_TYPE}${state}`,
    summary: `An expected payment became ${state}`,
    body: expectedEventSchema.extend({ type: z.literal(`${EXPECTED_TYPE}${state}`) }),
  })),
  { type: MANIFEST_TYPE, summary: 'What you were sent of an ended day, signed', body: manifestEventSchema },
  { type: TEST_TYPE, summary: 'A test: answer it with 2xx and do nothing', body: testEventSchema },
  { type: CHALLENGE_TYPE, summary: 'A challenge of a new address: answer its value', body: challengeEventSchema },
  {
    type: 'provider',
    summary: 'In the format provider: any change of a transaction, or a test, as the provider posts it',
    body: providerBodySchema,
    headers: { authorization: "Bearer and the merchant's bearer_token" },
  },
];

/** The headers of each message, by Standard Webhooks 1.0. */
export const CALLBACK_HEADERS = {
  'webhook-id':
    'belongs to what the message says: the same on every try and after a restore, another for any other event or correction. Remember those you have handled',
  'webhook-timestamp': 'seconds since 1970 of this try',
  'webhook-signature': 'v1,… over id.timestamp.body, one for each live secret, with a space between',
} as const;
