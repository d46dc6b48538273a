import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';
import { STATUS_UNREADABLE } from '../../domain/statuses.ts';
import { firstWallOf } from '../../merchants/start-backfill.ts';

const PAGE_EVENTS = 200;
/** Expected payments read at once, of which few may have changed since. */
const PAGE_EXPECTED = 500;

export type Cursor = { wall: string; seq: number };
export type BackfillPage = {
  /** The transactions whose first event since `since` is in this page: each is in one page alone. */
  transactionSeqs: number[];
  /** Undefined: there is no event after the cursor. */
  next: Cursor | undefined;
};

/** Reads the next events in the order of their times, through the index on it. */
export async function readPage(
  context: Context,
  db: Reader,
  since: Date,
  { wall, seq }: Cursor,
): Promise<BackfillPage> {
  const { rows } = await sql<Pick<EventRow, 'at_wall' | 'transaction_seq'>>`
    SELECT at_wall, transaction_seq FROM events FORCE INDEX (events_at)
    WHERE at_wall > ${wall} OR (at_wall = ${wall} AND transaction_seq > ${seq})
    ORDER BY at_wall, transaction_seq LIMIT ${sql.lit(PAGE_EVENTS)}`.execute(db);
  const last = rows.at(-1);
  if (!last) return { transactionSeqs: [], next: undefined };
  const firsts = await readFirsts(
    db,
    [...new Set(rows.map((row) => row.transaction_seq))],
    firstWallOf(context, since),
  );
  const transactionSeqs = rows
    .filter((row) => firsts.get(row.transaction_seq) === row.at_wall)
    .map((row) => row.transaction_seq);
  return { transactionSeqs: [...new Set(transactionSeqs)], next: { wall: last.at_wall, seq: last.transaction_seq } };
}

type EventRow = Database['events'];

/**
 * Reads the next expected payments, by their row numbers.
 * @returns those whose state changed at or after `since`, and the last that was read; undefined: there is none after `after`.
 */
export async function readExpectedPage(
  db: Reader,
  since: Date,
  after: number,
): Promise<{ expectedSeqs: number[]; last: number } | undefined> {
  const rows = await db
    .selectFrom('expected_payments')
    .select(['seq', 'state_at'])
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(PAGE_EXPECTED)
    .execute();
  const last = rows.at(-1)?.seq;
  if (last === undefined) return undefined;
  return { expectedSeqs: rows.filter((row) => row.state_at >= since).map(({ seq }) => seq), last };
}

/** Reads when the first event of each transaction happened that may have a callback. */
async function readFirsts(db: Reader, transactionSeqs: number[], from: string): Promise<Map<number, string>> {
  const rows = await db
    .selectFrom('events')
    .select(['transaction_seq', (eb) => eb.fn.min('at_wall').as('first')])
    .where('transaction_seq', 'in', transactionSeqs)
    .where('at_wall', '>=', from)
    .where('status', '<>', STATUS_UNREADABLE)
    .groupBy('transaction_seq')
    .execute();
  return new Map(rows.map((row) => [row.transaction_seq, row.first]));
}
