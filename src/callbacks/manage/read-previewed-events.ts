/** The last events, for the preview of a filter: for operators the newest of all, for a merchant those that it may know of. */
import { type SqlBool, sql } from 'kysely';
import type { Context } from '../../context.ts';
import { isStatementTimeout, limitStatementTime } from '../../database/limit-statement-time.ts';
import { DAY_MS, END_OF_TIME, type WallTime } from '../../domain/calendar.ts';
import { type Operation, STATUS_UNREADABLE } from '../../domain/statuses.ts';
import { listConditions, type MerchantFilter, matchesFilter } from '../../merchants/match-filter.ts';
import { firstWallOf } from '../../merchants/start-backfill.ts';
import { mapInTurns } from '../../runtime/take-turns.ts';

export const PREVIEW_DAYS = 7;
/** Events that a preview has: the newest ones, in about 30 ms. */
const EVENTS_MAX = 5000;
/** How long the events that a merchant may know of are searched for. */
const SEARCH_MS_MAX = 3_000;
const PAGE_ROWS = 2000;

/** The events that a merchant may know of: those that operators let it receive, since then. */
export type Allowed = { filter: MerchantFilter; since: Date };
export type PreviewedEvents = { rows: PreviewedRow[]; complete: boolean };
export type PreviewedRow = Omit<SelectedRow, 'operation'> & { operation: Operation };

/**
 * Reads the newest events of the last PREVIEW_DAYS days.
 * @param allowed no other event is read, and no number of the answer depends on one.
 */
export async function readPreviewedEvents(
  context: Context,
  allowed?: Allowed,
  { pageRows = PAGE_ROWS } = {},
): Promise<PreviewedEvents> {
  const start = new Date(context.clock.now().getTime() - PREVIEW_DAYS * DAY_MS);
  if (allowed) {
    const since = allowed.since > start ? allowed.since : start;
    return await readAllowed(context, { ...allowed, since }, pageRows);
  }
  const rows = await selectEvents(context, context.calendar.toWallTime(start)).limit(EVENTS_MAX).execute();
  return { rows: rows.map(withOperation), complete: rows.length < EVENTS_MAX };
}

/** Reads a day at a time, so that a filter with few events ends no statement by its time-out. */
async function readAllowed(context: Context, allowed: Allowed, pageRows: number): Promise<PreviewedEvents> {
  const { clock, calendar, timers } = context;
  const endMs = timers.monotonicMs() + SEARCH_MS_MAX;
  const first = firstWallOf(context, allowed.since);
  const rows: PreviewedRow[] = [];
  let to = END_OF_TIME;
  for (let back = 1; to > first; back++) {
    let from = calendar.toWallTime(new Date(clock.now().getTime() - back * DAY_MS));
    if (from < first) from = first;
    for (let after: SelectedRow | undefined; ; ) {
      if (timers.monotonicMs() > endMs) return { rows, complete: false };
      const page = await readPage(context, allowed.filter, { from, to, after, pageRows });
      if (page === undefined) return { rows, complete: false };
      await mapInTurns(page.map(withOperation), (row) => isAllowed(context, allowed, row) && rows.push(row));
      if (rows.length >= EVENTS_MAX) return { rows: rows.slice(0, EVENTS_MAX), complete: false };
      if (page.length < pageRows) break;
      after = page.at(-1);
    }
    to = from;
  }
  return { rows, complete: true };
}

function isAllowed({ calendar }: Context, { filter, since }: Allowed, row: PreviewedRow): boolean {
  return calendar.toInstant(row.at_wall) >= since && matchesFilter(filter, row);
}

type Range = { from: WallTime; to: WallTime; after: SelectedRow | undefined; pageRows: number };

/** Reads the next events that the plain lists of a filter match. @returns undefined if the statement took too long. */
async function readPage(context: Context, filter: MerchantFilter, { from, to, after, pageRows }: Range) {
  let select = selectEvents(context, from)
    .where('events.at_wall', '<', to)
    .where('events.status', '<>', STATUS_UNREADABLE);
  const hasStatus = (status: string) => sql<SqlBool>`events.status = ${status}`;
  for (const condition of listConditions(filter, 'transactions', hasStatus)) select = select.where(condition);
  if (after) {
    const { at_wall: wall, transaction_seq: seq, event_seq: event } = after;
    select = select.where(
      sql<SqlBool>`events.at_wall <= ${wall} AND (events.at_wall, events.transaction_seq, events.seq) < (${wall}, ${seq}, ${event})`,
    );
  }
  try {
    return await select.limit(pageRows).execute();
  } catch (error) {
    if (isStatementTimeout(error)) return undefined;
    throw error;
  }
}

type SelectedRow = Awaited<ReturnType<ReturnType<typeof selectEvents>['execute']>>[number];

function selectEvents({ db }: Context, since: WallTime) {
  return limitStatementTime(db)
    .selectFrom('events')
    .innerJoin('transactions', 'transactions.seq', 'events.transaction_seq')
    .select(['events.status', 'events.at_wall', 'transactions.id', 'operation', 'platform', 'reference', 'extra'])
    .select(['amount_cents', 'events.seq as event_seq', 'events.transaction_seq'])
    .where('events.at_wall', '>=', since)
    .orderBy('events.at_wall', 'desc')
    .orderBy('events.transaction_seq', 'desc')
    .orderBy('events.seq', 'desc');
}

function withOperation(row: SelectedRow): PreviewedRow {
  return { ...row, operation: row.operation as Operation };
}
