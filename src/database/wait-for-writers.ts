import { type Kysely, sql } from 'kysely';
import type { Database } from './tables.ts';

export type Appended =
  | 'entries'
  | 'events'
  | 'mismatch_changes'
  | 'fact_changes'
  | 'audit'
  | 'corrections'
  | 'expected_changes';
/** Tables whose rows change too, numbered in the order of their INSERTs. */
type Updated = 'webhooks' | 'transactions' | 'mismatches' | 'alerts';
type Expected = 'expected_versions' | 'expected_matches';

/** Maximum number of rows locked at once while waiting for their writers; a backlog takes several transactions. */
const LOCKED_ROWS_MAX = 20_000;
/** More rows than the transactions in flight have appended. */
const IN_FLIGHT_ROWS_MAX = 50_000;

/**
 * Waits until each row of a table with a number above `from` and at most `to` is committed or gone.
 * @throws the database's lock-wait timeout when a writer does not finish.
 */
export async function waitForWriters(
  db: Kysely<Database>,
  table: Appended | Updated | Expected,
  from: number,
  to: number,
): Promise<void> {
  let after = from;
  while (after < to) {
    // MariaDB has no FOR SHARE; MySQL accepts the older form
    const locked = sql<{ count: number; last: number | null }>`SELECT COUNT(*) AS count, MAX(seq) AS last FROM (
      SELECT seq FROM ${sql.table(table)} WHERE seq > ${after} AND seq <= ${to}
      ORDER BY seq LIMIT ${LOCKED_ROWS_MAX} LOCK IN SHARE MODE
    ) AS written`;
    // READ COMMITTED: locks rows only, not the gaps that writers append to
    const { rows } = await db.transaction().execute((trx) => locked.execute(trx));
    if (Number(rows[0]?.count ?? 0) < LOCKED_ROWS_MAX) return;
    after = Number(rows[0]?.last ?? to);
  }
}

/**
 * Waits until all rows that were inserted before this call, committed or not, are committed or gone.
 * @returns the highest of their numbers; 0 without one.
 * @throws the database's lock-wait timeout when a writer does not finish.
 */
export async function waitForInserted(db: Kysely<Database>, table: Appended | Updated | Expected): Promise<number> {
  // a locking read: a plain one would not see the uncommitted rows that it is about
  const { rows } = await db
    .transaction()
    .execute((trx) =>
      sql<{ seq: number }>`SELECT seq FROM ${sql.table(table)} ORDER BY seq DESC LIMIT 1 LOCK IN SHARE MODE`.execute(
        trx,
      ),
    );
  const highest = Number(rows[0]?.seq ?? 0);
  await waitForWriters(db, table, Math.max(0, highest - IN_FLIGHT_ROWS_MAX), highest);
  return highest;
}
