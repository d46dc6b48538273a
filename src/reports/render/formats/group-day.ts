import { describeCode, fill } from '../../../texts/fill.ts';
import { formatDay } from '../../../texts/reports/texts.ts';
import { AVAILABLE, splitAccount } from '../../read/read-accounts.ts';
import { type RenderContext, showPlatform } from '../columns.ts';
import type { Booking } from './book-movement.ts';

/** Fields of a single movement that a sum does not have. */
const NOBODY = { reference: null, transactionId: null, name: null, document: null, forgotten: false } as const;

type Sums = { first: Booking; count: number; cents: Map<string, bigint> };

/**
 * Adds up the movements of a day, for a file with one posting of each platform and account: each account against the available
 * balance, so that all come to what the single movements give. An account that comes to nothing has no posting. Movements of a
 * closed month are added up by their own days.
 * @param book takes a booking of two postings, whose entry has the number of its day.
 * @returns `add` takes bookings in the order of their days; `end` books the rest.
 */
export function groupByDay(rendering: RenderContext, book: (booking: Booking) => void) {
  const { texts } = rendering;
  const groups = new Map<string, Sums>();
  let current = '';
  function end(): void {
    for (const sums of groups.values()) for (const [account, cents] of sums.cents) bookSum(sums, account, cents);
    groups.clear();
  }
  function bookSum({ first: { movement, day }, count }: Sums, account: string, cents: bigint): void {
    const { root, platform: segment } = splitAccount(account);
    if (root === AVAILABLE || cents === 0n) return;
    const against = { account: `${AVAILABLE}:${segment}`, cents: -cents };
    const ownDay = movement.atWall.slice(0, 10);
    const platform = showPlatform(movement.platform, rendering) ?? '';
    const kind = fill(texts.dayTotal, { account: describeCode(texts.accounts, root), platform, count });
    book({
      movement: {
        ...{ ...movement, ...NOBODY },
        ...{ postings: [{ account, cents }, against], entrySeq: Number(ownDay.replaceAll('-', '')) },
      },
      ...{ day, kind: ownDay === day ? kind : fill(texts.earlierMonth, { day: formatDay(ownDay), kind }) },
    });
  }
  return {
    add(booking: Booking): void {
      if (booking.day !== current) end();
      current = booking.day;
      const { movement } = booking;
      const key = `${movement.atWall.slice(0, 10)} ${movement.platform}`;
      const sums = groups.get(key) ?? { first: booking, count: 0, cents: new Map<string, bigint>() };
      groups.set(key, sums);
      sums.count++;
      for (const { account, cents } of movement.postings)
        sums.cents.set(account, (sums.cents.get(account) ?? 0n) + cents);
    },
    end,
  };
}
