import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { MappedAccount } from '../../../src/ledger/stated/check-accounts.ts';
import { fitWindows1252, spellWindows1252 } from '../../../src/reports/render/formats/encode-windows-1252.ts';
import { pairLegs } from '../../../src/reports/render/formats/layouts.ts';
import { propertyOptions } from '../../support/property.ts';

test('each character of windows-1252 is written as its byte, and any other one as ASCII', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  const text = new TextDecoder('windows-1252').decode(bytes);
  expect(Buffer.from(spellWindows1252(text), 'latin1').equals(bytes)).toBe(true);
  expect(fitWindows1252('Ő \u{1F600} ＝ 漢 e\u0301 q\u0303 “€”')).toBe('O ? = ? é q? “€”');
  expect(spellWindows1252('＝≮')).toBe('??');
});

const mapped = (code: string): MappedAccount => ({
  ...{ account: 'Assets:Bank', platform: null, category: null, history: null },
  ...{ code, cost_center: null },
});
const legs = fc
  .array(fc.tuple(fc.constantFrom('1', '2', '3', '4'), fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n })), {
    maxLength: 5,
  })
  .map((pairs) => {
    const sum = pairs.reduce((total, [, cents]) => total + cents, 0n);
    return [...pairs, ['5', -sum] as const].map(([code, cents]) => ({ account: 'x', cents, mapped: mapped(code) }));
  });

test('an entry is split into pairs of a debit and a credit above zero, with the sums of its accounts', () => {
  fc.assert(
    fc.property(legs, (entry) => {
      const wanted = new Map<string | null, bigint>();
      for (const {
        mapped: { code },
        cents,
      } of entry)
        wanted.set(code, (wanted.get(code) ?? 0n) + cents);
      const found = new Map<string | null, bigint>();
      for (const { debit, credit, cents } of pairLegs(entry)) {
        expect(cents > 0n).toBe(true);
        expect(debit.code).not.toBe(credit.code);
        found.set(debit.code, (found.get(debit.code) ?? 0n) + cents);
        found.set(credit.code, (found.get(credit.code) ?? 0n) - cents);
      }
      for (const [code, cents] of wanted) expect(found.get(code) ?? 0n).toBe(cents);
    }),
    propertyOptions(100, 2_000),
  );
});
