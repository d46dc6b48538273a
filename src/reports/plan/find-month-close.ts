import type { Reader } from '../../database/reader.ts';
import { addMonths, boundsOfMonth, type Day, type Month, monthOf } from '../../domain/calendar.ts';
import { parseMonthBalances } from '../../seal/digest-month.ts';
import { listClosesInForce, type MonthClose, readMonthChanges, readMonthClose } from '../../seal/read-month-closes.ts';
import { parseOrdersCut } from './orders-cut.ts';
import type { ClosedMonth } from './report-plan.ts';

/** The close of a month, if it is in force. */
export async function findMonthClose(db: Reader, month: Month): Promise<MonthClose | undefined> {
  const [close] = listClosesInForce(await readMonthChanges(db, month));
  return close && (await readMonthClose(db, close.seq));
}

/** The months of a range that are not closed: what a file has of them can change. */
export async function findOpenMonths(db: Reader, { from, to }: { from: Day; to: Day }): Promise<Month[]> {
  const closed = new Set(listClosesInForce(await readMonthChanges(db)).map(({ month }) => month));
  const months: Month[] = [];
  for (let month = monthOf(from); month <= monthOf(to); month = addMonths(month, 1)) months.push(month);
  return months.filter((month) => !closed.has(month));
}

/**
 * The newest close of an earlier month, if every month with entries between it and this month is closed: then its cut and
 * the later changes below it give this month's opening balance.
 */
export async function findCloseBefore(db: Reader, month: Month): Promise<MonthClose | undefined> {
  const newest = listClosesInForce(await readMonthChanges(db)).findLast((close) => close.month < month);
  if (!newest || (await findMonthWithEntries(db, { after: newest.month, before: month }))) return undefined;
  return await readMonthClose(db, newest.seq);
}

/** The first month with entries after a month, or the first of all, and before another one. */
export async function findMonthWithEntries(
  db: Reader,
  { after, before }: { after: Month | undefined; before: Month },
): Promise<Month | undefined> {
  const row = await db
    .selectFrom('entries')
    .select('at_wall')
    .$if(after !== undefined, (query) => query.where('at_wall', '>', `${boundsOfMonth(after ?? '').to} 23:59:59`))
    .where('at_wall', '<', `${before}-01 00:00:00`)
    .orderBy('at_wall')
    .limit(1)
    .executeTakeFirst();
  return row && monthOf(row.at_wall);
}

/** The month whose file a range is: the whole month, or a running one up to today. */
export function readMonthOfRange({ from, to }: { from: Day; to: Day }, today: Day): Month | undefined {
  const month = monthOf(from);
  const bounds = boundsOfMonth(month);
  if (from !== bounds.from || monthOf(to) !== month) return undefined;
  return to === bounds.to || to === today ? month : undefined;
}

/** A close as the plan of a file has it, with its cut. */
export function toClosedMonth(close: MonthClose): ClosedMonth {
  const { month, at, actor, position, hash: sealHash } = close;
  const { entrySeq, eventSeq, mismatchChangeSeq, factChangeSeq, eventWindow } = close;
  const orders = parseOrdersCut(close.orders);
  const cut = { position, sealHash, entrySeq, eventSeq, mismatchChangeSeq, factChangeSeq, eventWindow, orders };
  return { month, at, actor, cut, balances: parseMonthBalances(close.balances) };
}
