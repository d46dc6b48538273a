import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decide } from '../../../src/ledger/decide/decide-observation.ts';
import type { StoredTransaction } from '../../../src/ledger/decide/stored-transaction.ts';
import { observe } from '../../support/make-observations.ts';
import { propertyOptions } from '../../support/property.ts';
import { makeShownTransaction } from '../../support/read-ledger-state.ts';

type Seen = { at: number; isPaid: boolean; commission: string | null };

function book(observed: Seen[]): bigint | null {
  let stored: StoredTransaction | undefined;
  for (const { at, isPaid, commission } of observed) {
    const row = makeShownTransaction(isPaid ? ['pending@0', 'paid@1'] : ['pending@0'], { id: 'tx' });
    const shown = { ...row, commission } as typeof row;
    stored = decide(stored, observe(shown, new Date(1_700_000_000_000 + at * 1000))).after;
  }
  return stored?.commissionCents ?? null;
}

function permute<T>(all: T[]): T[][] {
  if (all.length < 2) return [all];
  return all.flatMap((one, index) => permute(all.toSpliced(index, 1)).map((rest) => [one, ...rest]));
}

test('a payment without a commission books the one that was asked for last before it, in every order of arrival', () => {
  const observed: Seen[] = [
    { at: 1, isPaid: false, commission: '0.40' },
    { at: 2, isPaid: false, commission: '0.50' },
    { at: 3, isPaid: true, commission: null },
  ];
  expect(permute(observed).map(book)).toEqual(Array(6).fill(50n));
  const later = { at: 4, isPaid: true, commission: '0.60' };
  expect(permute([...observed, later]).map(book)).toEqual(Array(24).fill(50n));
});

test('any observations book one commission, in every order of arrival', () => {
  const observation = fc.record({
    at: fc.integer({ min: 1, max: 6 }),
    isPaid: fc.boolean(),
    commission: fc.constantFrom(null, '0.40', '0.50', '0.60'),
  });
  fc.assert(
    fc.property(fc.array(observation, { minLength: 1, maxLength: 5 }), (observed) => {
      expect(new Set(permute(observed).map(book)).size).toBe(1);
    }),
    propertyOptions(30, 300),
  );
});
