import { type Kysely, sql } from 'kysely';

/**
 * Fills histories_to_mend as the upgrade from an earlier version did: histories that were ordered by time, whose order was
 * not stored, or in which an inferred event stands beside real ones. A transaction keeps its first reason.
 */
export async function listHistories(db: Kysely<unknown>): Promise<void> {
  await list(
    db,
    'inferred',
    sql`SELECT transaction_seq FROM events GROUP BY transaction_seq HAVING SUM(inferred) > 1
      OR (SUM(inferred) > 0 AND SUM(inferred) < COUNT(*))`,
  );
  await list(
    db,
    'unknown',
    sql`SELECT DISTINCT transaction_seq FROM events WHERE inferred = 0
      GROUP BY transaction_seq, position HAVING COUNT(*) > 1`,
  );
  await list(
    db,
    'skewed',
    sql`SELECT DISTINCT earlier.transaction_seq FROM events earlier JOIN events later
      ON later.transaction_seq = earlier.transaction_seq AND later.position > earlier.position
      AND later.at_wall < earlier.at_wall
      WHERE earlier.inferred = 0 AND later.inferred = 0`,
  );
}

/** As above: histories with an inferred event beside others, whose entry an earlier version dated differently. */
export async function listDatedEntries(db: Kysely<unknown>): Promise<void> {
  await list(
    db,
    'dated',
    sql`SELECT transaction_seq FROM events GROUP BY transaction_seq HAVING SUM(inferred) > 0 AND COUNT(*) > 1`,
  );
}

async function list(db: Kysely<unknown>, reason: string, transactions: ReturnType<typeof sql>): Promise<void> {
  await sql`INSERT INTO histories_to_mend (transaction_seq, reason)
    SELECT found.transaction_seq, ${sql.lit(reason)} FROM (${transactions}) AS found
    ON DUPLICATE KEY UPDATE reason = histories_to_mend.reason`.execute(db);
}
