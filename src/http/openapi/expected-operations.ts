import { z } from 'zod';
import { expectedFactsSchema } from '../../expected/expected-fields.ts';
import { created, describeTag, type Operation, ok } from '../../operations/describe-operation.ts';
import { expectedPayment, expectedResults } from '../../operations/rows/expected.ts';
import {
  expectedManySchema,
  expectedMatchSchema,
  expectedNoteSchema,
  expectedQuerySchema,
  expectedUnmatchSchema,
} from '../api/expected.ts';

const Expected = describeTag('Expected payments');
const page = z.object({ expected_payments: z.array(expectedPayment), next_cursor: z.string().nullable() });
const writers = ['operator', 'accountant'] as const;
const one = ok('It', expectedPayment);

/** What somebody owes us, or we owe, before the provider knows of it. */
export const EXPECTED_OPERATIONS: readonly Operation[] = [
  { ...Expected.list('/expected-payments', expectedPayment, expectedQuerySchema), responses: ok('A page', page) },
  Expected.get('/expected-payments/{id}', 'One expected payment, by its id', expectedPayment),
  Expected.get('/expected-payments/{source}/{number}', 'One expected payment, by its key', expectedPayment),
  Expected.put(
    '/expected-payments/{source}/{number}',
    writers,
    'Expect a payment, or replace all facts of one. Equal facts change nothing. 409 for other facts of a cancelled one',
    { ...ok('Known', expectedPayment), ...created('New', expectedPayment) },
    expectedFactsSchema,
  ),
  Expected.post(
    '/expected-payments',
    writers,
    'Expect up to 1,000 payments, each by itself, with source and number beside the fields of PUT',
    ok('What became of each, in order', expectedResults),
    expectedManySchema,
  ),
  {
    ...Expected.delete('/expected-payments/{source}/{number}', writers, 'Cancel an expected payment', ''),
    responses: one,
  },
  Expected.post('/expected-payments/{id}/reopen', writers, 'Take a cancellation back', one, expectedNoteSchema),
  Expected.post('/expected-payments/{id}/match', writers, 'Match a payment, or a part of it', one, expectedMatchSchema),
  Expected.post(
    '/expected-payments/{id}/unmatch',
    writers,
    'Undo the matches of a pair: the rules keep it apart',
    one,
    expectedUnmatchSchema,
  ),
];
