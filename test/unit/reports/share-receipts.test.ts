import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addShare, SHARE_LINES, splitReceipt, sumShares } from '../../../src/reports/orders/share-receipts.ts';
import { propertyOptions } from '../../support/property.ts';

const receipt = fc.record({
  amountCents: fc.bigInt({ min: 1n, max: 10n ** 9n }),
  matched: fc.bigInt({ min: 0n, max: 10n ** 9n }),
  platform: fc.constantFrom('a', 'b', 'none'),
  atWall: fc.constantFrom('2026-03-10 23:59:59', '2026-03-11 00:00:00'),
});

test('the shares of receipts add up to them for each platform and in total, and none is below zero', () => {
  const since = new Map([['a', '2026-03-11']]);
  const check = fc.property(fc.array(receipt), (receipts) => {
    const platforms = new Map();
    for (const one of receipts) {
      const share = splitReceipt(one, one.matched, since.get(one.platform));
      expect(SHARE_LINES.filter((line) => share[line] < 0n)).toEqual([]);
      // before the first day of issue nobody said what is expected
      if (one.atWall < '2026-03-11') expect(share.unidentified).toBe(0n);
      addShare(platforms, one.platform, share);
    }
    const sum = (list: { amountCents: bigint }[]) => list.reduce((total, one) => total + one.amountCents, 0n);
    const added = (share: Record<string, bigint>) =>
      SHARE_LINES.reduce((total, line) => total + (share[line] ?? 0n), 0n);
    for (const [platform, share] of platforms)
      expect(added(share)).toBe(sum(receipts.filter((one) => one.platform === platform)));
    expect(added(sumShares(platforms))).toBe(sum(receipts));
  });
  fc.assert(check, propertyOptions(50, 2_000));
});
