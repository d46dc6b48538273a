import { expect, test } from 'vitest';
import { transact } from '../../../src/database/transact.ts';
import type { MismatchKind } from '../../../src/domain/mismatch.ts';
import { parseSum } from '../../../src/domain/money.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { listMismatches } from '../../../src/mismatches/read-mismatches.ts';
import { readOpenMismatches } from '../../../src/mismatches/read-open-mismatches.ts';
import { openTestContext } from '../../support/open-environment.ts';

const FOUND: [MismatchKind, unknown, unknown][] = [
  ['amount_differs', { amount: '10.00', operation: 'cashin' }, { amount: '4.01', operation: 'cashin' }],
  ['amount_differs', { amount: '10.00', operation: 'cashin' }, { amount: '10.00', operation: 'cashout' }],
  ['commission_differs', { commission: '1.00' }, { commission: null }],
  ['webhook_contradiction', { status: 'paid' }, { status: 'pending', history: ['pending'] }],
  ['webhook_contradiction', { amount: '1.00' }, { amount: '3.00' }],
  ['balance_differs', { balance: '1.00', at: '2026-11-21T00:00:00-03:00' }, { ledger: '3.00', difference: '-2.00' }],
  ['commission_not_agreed', { commission: '1.00' }, { commission: '2.50', payments: 3, difference: '1.50' }],
  ['stuck', { final_within_s: 900 }, { status: 'pending' }],
  ['unknown_status', null, { status: 'paid_twice' }],
];

test('the sum at stake of each kind is that of its mismatches', async () => {
  await using context = await openTestContext();
  const found = FOUND.map(([kind, expected, actual], index) => ({
    ...{ kind, expected, actual, scope: `scope ${index}`, amountCents: 1234n },
  }));
  await transact(context.db, (trx) => raiseMismatches(trx, found, new Date()));
  const sums = new Map<string, bigint>();
  for (const one of await listMismatches(context, { limit: 50 }))
    sums.set(one.kind, (sums.get(one.kind) ?? 0n) + (parseSum(one.at_stake ?? '') ?? 0n));
  const read = (await readOpenMismatches(context.db)).map((one) => [one.kind, one.stakeCents] as const);
  expect(new Map(read)).toEqual(sums);
  expect(sums).toEqual(
    new Map([
      ...([
        ['amount_differs', 599n + 1234n],
        ['commission_differs', 100n],
        ['balance_differs', 200n],
        ['commission_not_agreed', 150n],
      ] as const),
      ...([
        ['webhook_contradiction', 1234n + 200n],
        ['stuck', 1234n],
        ['unknown_status', 1234n],
      ] as const),
    ]),
  );
});
