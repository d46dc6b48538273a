/** Finds what keeps a month open, by the verdicts that other parts give: days, mismatches and stated balances. */
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { addDays, addMonths, boundsOfMonth, type Day, listDays, type Month } from '../../domain/calendar.ts';
import { LOOKBACK_DAYS, provesDay } from '../../domain/late-days.ts';
import { append, compareText } from '../../domain/lists.ts';
import { parseSum } from '../../domain/money.ts';
import { listTransactionIds } from '../../domain/person/mask-mismatch.ts';
import { readNewestStatements } from '../../ledger/stated/state-balance.ts';
import { listMismatches, type PresentedMismatch } from '../../mismatches/read-mismatches.ts';
import { listClosesInForce, readMonthChanges } from '../../seal/read-month-closes.ts';
import { findMonthWithEntries } from '../plan/find-month-close.ts';
import { readProofWindows } from '../revisions/read-proof-windows.ts';
import { listReportDays, type ReportDay } from '../serve/list-report-days.ts';
import type { Refusal } from './refusal.ts';

/** A person who closes a month reads no longer list; the last refusal counts the others. */
export const REFUSED_MISMATCHES_MAX = 100;
const CHUNK_ROWS = 200;

/** Lists what keeps a month from being closed: empty if nothing does. */
export async function findRefusals(context: Context, month: Month): Promise<Refusal[]> {
  const { calendar, clock, db } = context;
  const { from, to } = boundsOfMonth(month);
  const isRunning = calendar.dayOf(clock.now()) <= to;
  const first = await findMonthWithEntries(db, { after: undefined, before: addMonths(month, 1) });
  if (first === undefined && !isRunning) return [{ code: 'before_books', month }];
  const days = await listReportDays(context, { from, to });
  return [
    ...(isRunning ? [{ code: 'month_running', month } as const] : []),
    ...(await findOrderRefusals(db, month)),
    ...(await findUnprovenDays(db, days)),
    ...(await findUnreadBefore(context, { from, to })),
    ...(await refuseForMismatches(context, month)),
    ...(await findDifferences(context, { from, to })),
    ...(await findUnfinishedOpenings(db)),
  ];
}

/**
 * The first month that closing a month leaves open for good: only the first close of all leaves months out. Undefined where
 * none before it has entries.
 */
export async function findLeftOpen(db: Reader, month: Month): Promise<Month | undefined> {
  const hasCloseBefore = listClosesInForce(await readMonthChanges(db)).some((close) => close.month < month);
  return hasCloseBefore ? undefined : await findMonthWithEntries(db, { after: undefined, before: month });
}

/** Closed months that follow a month: it can neither be closed nor reopened before them. */
export async function findLaterCloses(db: Reader, month: Month): Promise<Refusal[]> {
  const later = listClosesInForce(await readMonthChanges(db)).filter((close) => close.month > month);
  return later.map((close) => ({ code: 'later_month_closed', month: close.month }));
}

/** Any month may be the first to be closed. Later ones are closed in order: each starts from the balance of the one before. */
async function findOrderRefusals(db: Reader, month: Month): Promise<Refusal[]> {
  const before = listClosesInForce(await readMonthChanges(db)).findLast((close) => close.month < month);
  const open = before && (await findMonthWithEntries(db, { after: before.month, before: month }));
  return [
    ...(open === undefined ? [] : [{ code: 'earlier_month_open', month: open } as const]),
    ...(await findLaterCloses(db, month)),
  ];
}

/** Days that nobody has read or counted after their end. Days before the first opening of the books have no entries. */
async function findUnprovenDays(db: Reader, days: ReportDay[]): Promise<Refusal[]> {
  const opening = await db
    .selectFrom('openings')
    .select((eb) => eb.fn.min('day').as('day'))
    .where('in_force', '=', 1)
    .executeTakeFirst();
  const hasBegun = ({ day, state }: ReportDay): boolean => state !== 'before' || day >= (opening?.day ?? '');
  return days
    .filter((day) => day.unread?.hasDay === true && !day.isReadWhole && hasBegun(day))
    .map(({ day }) => ({ code: 'day_unproven', day }));
}

/**
 * Days before an opening that nobody has read or counted after their end, whose transactions may move in the month. The opening's
 * run reads them.
 */
async function findUnreadBefore({ db, calendar }: Context, { from, to }: { from: Day; to: Day }): Promise<Refusal[]> {
  const rows = await db.selectFrom('openings').select('day').where('in_force', '=', 1).where('day', '<=', to).execute();
  const openings = rows.map(({ day }) => day).sort();
  const [first = ''] = openings;
  const isNeeded = (day: Day): boolean =>
    openings.some((opening) => day < opening && day >= addDays(opening, -LOOKBACK_DAYS)) &&
    // days of the month since its books begin are `day_unproven`
    (day < from || day < first);
  const needed = listDays(addDays(from, -LOOKBACK_DAYS), to).filter(isNeeded);
  const windows = await readProofWindows(db, { from: addDays(from, -LOOKBACK_DAYS), to });
  const unread = needed.filter((day) => {
    const endsAt = calendar.endOfDay(day);
    return !windows.some((window) => provesDay(window, day, endsAt));
  });
  return joinDays(unread).map((range) => ({ code: 'days_before_unread', ...range }));
}

/** Joins days that follow each other. @param days in order. */
function joinDays(days: Day[]): { from: Day; to: Day }[] {
  const ranges: { from: Day; to: Day }[] = [];
  for (const day of days) {
    const last = ranges.at(-1);
    if (last && day === addDays(last.to, 1)) last.to = day;
    else ranges.push({ from: day, to: day });
  }
  return ranges;
}

/**
 * Finds the open critical mismatches, but those about transactions that began after the month: settling any other one may change
 * the month's balance. Those about stated balances are compared by `findDifferences`.
 */
export async function findBlockers(context: Context, month: Month): Promise<PresentedMismatch[]> {
  const found: PresentedMismatch[] = [];
  for (let after: number | undefined; ; ) {
    const rows = await listMismatches(context, { state: 'unresolved', severity: 'critical', limit: CHUNK_ROWS, after });
    const others = rows.filter(({ kind }) => kind !== 'balance_differs');
    append(found, await omitLater(context.db, others, boundsOfMonth(month).to));
    after = rows.at(-1)?.seq;
    if (rows.length < CHUNK_ROWS) return found;
  }
}

async function refuseForMismatches(context: Context, month: Month): Promise<Refusal[]> {
  const found = await findBlockers(context, month);
  const { from } = boundsOfMonth(month);
  const all = found
    .toSorted((a, b) => compareText(a.day, b.day) || compareAmounts(a, b))
    .map(({ id, kind, transaction_id: transactionId, owner, day }) => ({
      ...{ code: 'mismatch_open' as const, mismatchId: id, kind, transactionId, owner, day, isEarlier: day < from },
    }));
  const [refusals, more] = [all.slice(0, REFUSED_MISMATCHES_MAX), all.slice(REFUSED_MISMATCHES_MAX)];
  if (more.length === 0) return refusals;
  const earlier = more.filter(({ isEarlier }) => isEarlier).length;
  return [...refusals, { code: 'more_mismatches_open', month, count: more.length, earlier }];
}

/** The larger amount first, without its sign. */
function compareAmounts(...pair: [PresentedMismatch, PresentedMismatch]): number {
  const [a = 0n, b = 0n] = pair.map(({ amount }) => parseSum(amount?.replace('-', '') ?? '') ?? 0n);
  return Number(b > a) - Number(a > b);
}

async function omitLater(db: Reader, rows: PresentedMismatch[], to: Day): Promise<PresentedMismatch[]> {
  const ids = rows.flatMap(listTransactionIds);
  if (ids.length === 0) return rows;
  const end = `${addDays(to, 1)} 00:00:00`;
  const later = await db
    .selectFrom('transactions')
    .select('id')
    .where('id', 'in', ids)
    .where('created_wall', '>=', end)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('events')
            .select('events.seq')
            .whereRef('events.transaction_seq', '=', 'transactions.seq')
            .where('events.at_wall', '<', end),
        ),
      ),
    )
    .execute();
  const laterIds = new Set(later.map(({ id }) => id));
  return rows.filter((row) => {
    const own = listTransactionIds(row);
    return own.length === 0 || own.some((id) => !laterIds.has(id));
  });
}

/**
 * Each platform's newest statement of the month, its end included, that differs from the ledger; of a platform without
 * one, a statement of another month that differs.
 */
async function findDifferences(context: Context, { from, to }: { from: Day; to: Day }): Promise<Refusal[]> {
  const { calendar } = context;
  const newest = await readNewestStatements(context, `${addDays(to, 1)} 00:00:00`);
  const ofMonth = newest.filter(({ at }) => calendar.toWallTime(new Date(at)) > `${from} 00:00:00`);
  const stated = new Set(ofMonth.map(({ platform }) => platform));
  const query = { state: 'unresolved', kind: 'balance_differs', limit: CHUNK_ROWS };
  const open = await listMismatches(context, query);
  const others = open.filter((one) => !stated.has(readPlatform(one)));
  const explained = (platform: string, at: string) =>
    open.find((one) => readPlatform(one) === platform && (one.expected as { at?: string }).at === at);
  return [
    ...ofMonth
      .filter(({ difference }) => difference !== '0.00')
      .map(({ platform, at, balance, ledger, difference }): Refusal => {
        const iso = calendar.toIso(calendar.toWallTime(new Date(at)));
        const mismatchId = explained(platform, iso)?.id;
        return { code: 'balance_differs', platform, at: iso, balance, ledger, difference, mismatchId };
      }),
    ...others.map((one): Refusal => {
      const [expected, actual] = [one.expected, one.actual] as Record<string, string>[];
      return {
        ...{ code: 'balance_differs', platform: readPlatform(one), at: expected?.at ?? '' },
        ...{ balance: expected?.balance ?? '', ledger: actual?.ledger ?? '', difference: actual?.difference ?? '' },
        mismatchId: one.id,
      };
    }),
  ];
}

function readPlatform({ expected }: PresentedMismatch): string {
  return (expected as { platform: string }).platform;
}

/** Openings whose history is still being posted again: the balances are between two states. */
async function findUnfinishedOpenings(db: Reader): Promise<Refusal[]> {
  const rows = await db.selectFrom('openings').select(['id', 'platform']).where('reposted_at', 'is', null).execute();
  return rows.map(({ id, platform }) => ({ code: 'opening_unfinished', openingId: id, platform }));
}
