import { NO_PLATFORM } from '../../../domain/platform.ts';
import { describeCode, fill } from '../../../texts/fill.ts';
import { formatDay } from '../../../texts/reports/texts.ts';
import { AVAILABLE, splitAccount } from '../../read/read-accounts.ts';
import { type RenderContext, showPlatform } from '../columns.ts';
import type { Booking } from './book-movement.ts';

/** Fields of a single movement that a sum does not have. */
const NOBODY = { reference: null, transactionId: null, name: null, document: null, forgotten: false } as const;

type Sum = Pick<Booking, 'bank'> & { account: string; cents: bigint; count: number };
/** `accounts` by name; each bank account apart. */
type Sums = { first: Booking; accounts: Map<string, Sum> };

/**
 * Adds up the movements of a day, for a file with one posting of each platform and account: each account against the available
 * balance, so that all come to what the single movements give. An account that comes to nothing has no posting. Movements of a closed month are added up by
 * their own days.
 * @param book takes a booking of two postings, whose entry has the number of its day.
 * @returns `add` takes bookings in the order of their days; `end` books the rest.
 */
export function groupByDay(rendering: RenderContext, book: (booking: Booking) => void) {
  const { texts } = rendering;
  const groups = new Map<string, Sums>();
  let current = '';
  function end(): void {
    for (const { first, accounts } of groups.values()) for (const sum of accounts.values()) bookSum(first, sum);
    groups.clear();
  }
  function bookSum({ movement, day }: Booking, { account, bank, cents, count }: Sum): void {
    const { root, platform: segment } = splitAccount(account);
    if (root === AVAILABLE || cents === 0n) return;
    const against = { account: `${AVAILABLE}:${segment}`, cents: -cents };
    const ownDay = movement.atWall.slice(0, 10);
    const platform = movement.platform === NO_PLATFORM ? texts.noPlatform : showPlatform(movement.platform, rendering);
    const kind = fill(texts.dayTotal, { account: describeCode(texts.accounts, root), platform: platform ?? '', count });
    book({
      bank,
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
      const sums = groups.get(key) ?? { first: booking, accounts: new Map<string, Sum>() };
      groups.set(key, sums);
      for (const { account, cents } of movement.postings) {
        const bank = account.startsWith('Expenses:') ? undefined : booking.bank;
        const name = `${bank?.account ?? ''} ${account}`;
        const sum = sums.accounts.get(name) ?? { account, bank, cents: 0n, count: 0 };
        sums.accounts.set(name, { ...sum, cents: sum.cents + cents, count: sum.count + 1 });
      }
    },
    end,
  };
}
