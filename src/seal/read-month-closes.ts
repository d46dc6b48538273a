/**
 * The months that people closed. A month is closed where its newest row of `month_closes` closes it; that row fixes a sealed
 * position. Rows are only added.
 */
import type { Reader } from '../database/reader.ts';
import type { Month } from '../domain/calendar.ts';
import { InvariantError } from '../domain/errors.ts';
import { compareText } from '../domain/lists.ts';

/** A row without its large columns. `position`, `hash` and `digest` are null in a row that reopens. */
export type MonthChange = Awaited<ReturnType<typeof readMonthChanges>>[number];
/** A row that closes a month, whole. */
export type MonthClose = Awaited<ReturnType<typeof readMonthClose>>;

const CHANGE_COLUMNS = [
  ...(['seq', 'month', 'action', 'at', 'actor', 'note', 'digest'] as const),
  ...(['cut_seal_position as position', 'cut_seal_hash as hash'] as const),
] as const;

/** All rows, or those of one month, the oldest first. */
export async function readMonthChanges(db: Reader, month?: Month) {
  return await db
    .selectFrom('month_closes')
    .select(CHANGE_COLUMNS)
    .$narrowType<{ action: 'close' | 'reopen' }>()
    .$if(month !== undefined, (query) => query.where('month', '=', month ?? ''))
    .orderBy('seq')
    .execute();
}

/** The closes in force, the earliest month first. Pure. */
export function listClosesInForce(changes: MonthChange[]): MonthChange[] {
  const newest = new Map(changes.map((change) => [change.month, change]));
  return [...newest.values()].filter(({ action }) => action === 'close').sort((a, b) => compareText(a.month, b.month));
}

/** @throws InvariantError for a row that does not close a month. */
export async function readMonthClose(db: Reader, seq: number) {
  const row = await db
    .selectFrom('month_closes')
    .select(CHANGE_COLUMNS)
    // the close of an earlier month: later changes of that one, and of those before it, are adjustments in this month
    .select(['base_seq as baseSeq', 'cut_entry_seq as entrySeq', 'cut_event_seq as eventSeq'])
    .select(['cut_mismatch_change_seq as mismatchChangeSeq', 'cut_fact_change_seq as factChangeSeq'])
    // JSON: `orders`, null where its files show none; `days`; `balances`, see digest-month.ts
    .select(['cut_event_window as eventWindow', 'cut_orders as orders', 'days', 'balances'])
    .select(['full_documents', 'version'])
    .where('seq', '=', seq)
    .executeTakeFirst();
  const need = <T>(value: T | null | undefined): T => {
    if (value === null || value === undefined) throw new InvariantError(`month_closes ${seq} closes no month`);
    return value;
  };
  const { full_documents: fullDocuments, ...closed } = need(row);
  return {
    ...closed,
    action: 'close' as const,
    position: need(closed.position),
    hash: need(closed.hash),
    digest: need(closed.digest),
    entrySeq: need(closed.entrySeq),
    eventSeq: need(closed.eventSeq),
    mismatchChangeSeq: need(closed.mismatchChangeSeq),
    factChangeSeq: need(closed.factChangeSeq),
    days: need(closed.days),
    balances: need(closed.balances),
    fullDocuments: fullDocuments === 1,
    version: need(closed.version),
  };
}
