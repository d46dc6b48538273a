/**
 * Movements and balances by day or hour, read from the sums of the journal: each figure is that of the day's report at the same
 * cut, by the same name. What was paid on a day counts whole, whenever it was refunded; a refund counts on its own day. A
 * correction counts once.
 */
import type { Context } from '../../context.ts';
import { addDays, type Day, listDays, type WallTime } from '../../domain/calendar.ts';
import { readSpanSums, type SpanGrain } from '../../seal/read-span-sums.ts';
import { refuseField } from '../../texts/refuse.ts';
import { splitAccount } from '../journal/plan-entries.ts';

/** Days that one series has at most. */
export const SERIES_DAYS_MAX = 92;
const HOURS_A_DAY = 24;

/** Signed cents. */
export type MoneySums = {
  /** Cashins paid then, whenever they were refunded. */
  receipts: bigint;
  /** Cashouts paid then, likewise. */
  payments: bigint;
  /** Receipts that were refunded then, whenever they were paid. */
  refundsMade: bigint;
  /** Payments that came back then, likewise. */
  refundsReceived: bigint;
  /** Commissions on both, less those that were returned. */
  commissions: bigint;
  /** The balance's movement: receipts − commissions − payments − refunds made + refunds received ± adjustments. */
  net: bigint;
  /** Available + held at the end; of the current hour or day, now. */
  balance: bigint;
};
/** `span` is `2026-11-21`, or `2026-11-21 08` of an hour. `sums` is undefined before the first entry and in the future. */
export type MoneyPoint = { span: string; isNow: boolean; sums: MoneySums | undefined };

/** A day, hour by hour, or days, both included. @param platform `none`: without one; undefined: all. */
export type MoneyQuery = ({ day: Day } | { from: Day; to: Day }) & { platform?: string | undefined };

const ACCOUNTS = {
  receipts: /^Liabilities:Receipts$/,
  payments: /^Liabilities:Payables$/,
  commissions: /^Expenses:Commission(:|$)/,
  balance: /^Assets:Provider:(Available|Held)$/,
  // the other side of an opening, which moves the balance and is no movement of the day
  opened: /^Equity:Opening$/,
} as const;
type Group = keyof typeof ACCOUNTS;
const NOTHING: Record<Group, bigint> = { receipts: 0n, payments: 0n, commissions: 0n, balance: 0n, opened: 0n };
type Account = { seq: number; account: string; platform: string };

/**
 * Reads the series of a platform, or of all.
 * @throws ConfereError `invalid_request` for more than SERIES_DAYS_MAX days, or a last day before the first.
 */
export async function readMoneySeries(context: Context, query: MoneyQuery): Promise<MoneyPoint[]> {
  const { calendar, clock, db } = context;
  const grain: SpanGrain = 'day' in query ? 'hour' : 'day';
  const { from, to } = 'day' in query ? { from: query.day, to: query.day } : query;
  checkDays(from, to);
  const accounts = (await listAccounts(context)).filter(
    ({ platform }) => query.platform === undefined || platform === query.platform,
  );
  const groups = groupAccounts(accounts);
  const now = calendar.toWallTime(clock.now());
  const range = { grain, from: `${from} 00:00:00`, to: `${addDays(to, 1)} 00:00:00` };
  const refunded = { made: groups.receipts, received: groups.payments };
  const { before, spans, refunds } = await readSpanSums(db, groups, range, refunded);
  const first = await findFirstEntry(context, Object.values(groups).flat());
  let { balance } = before;
  return listSpans(from, to, grain).map((span) => {
    const { receipts, payments, commissions, balance: moved, opened } = spans.get(span) ?? NOTHING;
    const { made, received } = refunds.get(span) ?? { made: 0n, received: 0n };
    balance += moved;
    const isKnown = first !== undefined && span >= first.slice(0, span.length) && span <= now.slice(0, span.length);
    const sums = isKnown
      ? {
          receipts: made - receipts,
          payments: payments - received,
          refundsMade: made,
          refundsReceived: -received,
          commissions,
          net: moved + opened,
          balance,
        }
      : undefined;
    return { span, isNow: span === now.slice(0, span.length), sums };
  });
}

/** The platforms that have entries, by their ids; `none` stands for transactions without a platform. */
export async function listBookedPlatforms(context: Context): Promise<string[]> {
  return [...new Set((await listAccounts(context)).map(({ platform }) => platform))].sort();
}

/** @throws ConfereError `invalid_request`, by the field `from`. */
export function checkDays(from: Day, to: Day): void {
  if (from > to) throw refuseField('from', 'days_reversed');
  if (addDays(from, SERIES_DAYS_MAX) <= to) throw refuseField('from', 'days_too_many', { n: SERIES_DAYS_MAX });
}

async function listAccounts({ db }: Context): Promise<Account[]> {
  const rows = await db.selectFrom('accounts').select(['seq', 'name']).execute();
  return rows
    .map(({ seq, name }) => ({ seq, ...splitAccount(name) }))
    .filter(({ account }) => Object.values(ACCOUNTS).some((group) => group.test(account)));
}

function groupAccounts(accounts: Account[]): Record<Group, number[]> {
  const seqsOf = (group: Group): number[] =>
    accounts.filter(({ account }) => ACCOUNTS[group].test(account)).map(({ seq }) => seq);
  return {
    receipts: seqsOf('receipts'),
    payments: seqsOf('payments'),
    commissions: seqsOf('commissions'),
    balance: seqsOf('balance'),
    opened: seqsOf('opened'),
  };
}

/** One entry of the index for each account. */
async function findFirstEntry({ db }: Context, accounts: number[]): Promise<WallTime | undefined> {
  if (accounts.length === 0) return undefined;
  const rows = await db
    .selectFrom('postings')
    .select((eb) => eb.fn.min('at_wall').as('at'))
    .where('account_seq', 'in', accounts)
    .groupBy('account_seq')
    .execute();
  return rows
    .map(({ at }) => at)
    .sort()
    .at(0);
}

function listSpans(from: Day, to: Day, grain: SpanGrain): string[] {
  if (grain === 'day') return listDays(from, to);
  return Array.from({ length: HOURS_A_DAY }, (_, hour) => `${from} ${String(hour).padStart(2, '0')}`);
}
