/**
 * The months that people closed. A month is closed where its newest row of `month_closes` closes it; that row fixes a sealed
 * position. Rows are only added.
 */
import type { Selectable } from 'kysely';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import type { Month } from '../domain/calendar.ts';
import { InvariantError } from '../domain/errors.ts';
import { compareText } from '../domain/lists.ts';

type Row = Selectable<Database['month_closes']>;

/** A row without its large columns. `position`, `hash` and `digest` are null in a row that reopens. */
export type MonthChange = {
  seq: number;
  month: Month;
  action: 'close' | 'reopen';
  at: Date;
  actor: string;
  note: string | null;
  position: number | null;
  hash: Buffer | null;
  digest: Buffer | null;
};

/** A row that closes a month, whole. */
export type MonthClose = MonthChange & {
  action: 'close';
  position: number;
  hash: Buffer;
  digest: Buffer;
  /** The close of an earlier month: later changes of that one, and of those before it, are adjustments in this month. */
  baseSeq: number | null;
  entrySeq: number;
  eventSeq: number;
  mismatchChangeSeq: number;
  factChangeSeq: number;
  eventWindow: Buffer | null;
  /** JSON; null: its files show no orders. */
  orders: string | null;
  /** JSON. */
  days: string;
  /** JSON, see digest-month.ts. */
  balances: string;
  fullDocuments: boolean;
  version: string;
};

/** All rows, or those of one month, the oldest first. */
export async function readMonthChanges(db: Reader, month?: Month): Promise<MonthChange[]> {
  const rows = await db
    .selectFrom('month_closes')
    .select(['seq', 'month', 'action', 'at', 'actor', 'note', 'cut_seal_position', 'cut_seal_hash', 'digest'])
    .$if(month !== undefined, (query) => query.where('month', '=', month ?? ''))
    .orderBy('seq')
    .execute();
  return rows.map(toChange);
}

/** The closes in force, the earliest month first. Pure. */
export function listClosesInForce(changes: MonthChange[]): MonthChange[] {
  const newest = new Map(changes.map((change) => [change.month, change]));
  return [...newest.values()].filter(({ action }) => action === 'close').sort((a, b) => compareText(a.month, b.month));
}

/** @throws InvariantError for a row that does not close a month. */
export async function readMonthClose(db: Reader, seq: number): Promise<MonthClose> {
  const row = await db.selectFrom('month_closes').selectAll().where('seq', '=', seq).executeTakeFirst();
  const need = <T>(value: T | null | undefined): T => {
    if (value === null || value === undefined) throw new InvariantError(`month_closes ${seq} closes no month`);
    return value;
  };
  const closed = need(row);
  return {
    ...toChange(closed),
    action: 'close',
    position: need(closed.cut_seal_position),
    hash: need(closed.cut_seal_hash),
    digest: need(closed.digest),
    baseSeq: closed.base_seq,
    entrySeq: need(closed.cut_entry_seq),
    eventSeq: need(closed.cut_event_seq),
    mismatchChangeSeq: need(closed.cut_mismatch_change_seq),
    factChangeSeq: need(closed.cut_fact_change_seq),
    eventWindow: closed.cut_event_window,
    orders: closed.cut_orders,
    days: need(closed.days),
    balances: need(closed.balances),
    fullDocuments: closed.full_documents === 1,
    version: need(closed.version),
  };
}

type Listed = Pick<
  Row,
  'seq' | 'month' | 'action' | 'at' | 'actor' | 'note' | 'cut_seal_position' | 'cut_seal_hash' | 'digest'
>;

function toChange(row: Listed): MonthChange {
  return {
    ...{ seq: row.seq, month: row.month, at: row.at, actor: row.actor, note: row.note, digest: row.digest },
    action: row.action === 'close' ? 'close' : 'reopen',
    position: row.cut_seal_position,
    hash: row.cut_seal_hash,
  };
}
