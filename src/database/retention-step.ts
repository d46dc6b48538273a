/** How one kind of rows is deleted once it is older than its retention: in small batches, each a transaction of its own. */
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from './tables.ts';
import { transact } from './transact.ts';

/** Small deletes hold locks briefly. An interrupted run continues the next time. */
export const RETENTION_BATCH_ROWS = 1_000;

/**
 * Deletes the rows that are older than an instant, or counts them where `write` is false. Yields the number of each batch; the
 * caller stops between two.
 */
type RunStep = (options: { before: Date; write: boolean }) => AsyncGenerator<number, void, undefined>;

export type RetentionStep = {
  /** The table, or what of it is deleted. */
  name: string;
  /** The environment variable that sets it; undefined if it is fixed. */
  setting?: string;
  keepMs: number | 'off';
  /** Why nothing is deleted in spite of `keepMs`. */
  note?: string | undefined;
  run: RunStep;
};

/**
 * Reads rows in the order of their numbers, up to the first batch without an old one.
 * @param options.read reads at most RETENTION_BATCH_ROWS rows above a number.
 * @param options.drop deletes those of the old rows that may go, or counts them. @returns how many.
 */
export async function* walkRows<Row extends { seq: number }>(options: {
  read: (after: number) => Promise<Row[]>;
  isOld: (row: Row) => boolean;
  drop: (old: Row[]) => Promise<number>;
}): AsyncGenerator<number, void, undefined> {
  for (let after = 0; ; ) {
    const rows = await options.read(after);
    const old = rows.filter(options.isOld);
    if (old.length > 0) yield await options.drop(old);
    const last = rows.at(-1);
    if (!last || rows.length < RETENTION_BATCH_ROWS || old.length === 0) return;
    after = last.seq;
  }
}

/** Deletes or counts the rows of a table that fulfil a condition. A batch that meets other writers (a deadlock) runs again. */
export async function* dropWhere(
  db: Kysely<Database>,
  table: keyof Database,
  condition: RawBuilder<SqlBool>,
  write: boolean,
): AsyncGenerator<number, void, undefined> {
  if (!write) {
    const counted = sql<{ count: number }>`SELECT COUNT(*) AS count FROM ${sql.table(table)} WHERE ${condition}`;
    yield Number((await counted.execute(db)).rows[0]?.count ?? 0);
    return;
  }
  const drop = sql`DELETE FROM ${sql.table(table)} WHERE ${condition} LIMIT ${sql.lit(RETENTION_BATCH_ROWS)}`;
  for (let count = RETENTION_BATCH_ROWS; count === RETENTION_BATCH_ROWS; ) {
    const dropped = await transact(db, (trx) => drop.execute(trx));
    count = Number(dropped.numAffectedRows ?? 0n);
    yield count;
  }
}
