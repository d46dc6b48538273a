import { type Kysely, sql } from 'kysely';

/**
 * A doubt that shows have told stays one until a show ends it, also while it is asked for anew. And entries of inferred
 * events are dated after the event that they follow: histories with such an event beside others are listed, and mended
 * as those of 0030 are.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['doubted_events', 'doubted_statuses']) {
    const { rows } = await sql`SELECT 1 FROM information_schema.columns
      WHERE table_schema = DATABASE() AND table_name = ${table} AND column_name = 'told'`.execute(db);
    if (rows.length === 0) {
      await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN told TINYINT NOT NULL DEFAULT 0
        COMMENT '1: two shows have told so, and none has said otherwise since'`.execute(db);
    }
    await sql`UPDATE ${sql.table(table)} SET told = 1 WHERE due_at IS NULL`.execute(db);
  }
  // a report of one platform leaves out those of another's transactions
  await sql`UPDATE mismatches JOIN transactions ON transactions.id = mismatches.transaction_id
    SET mismatches.transaction_seq = transactions.seq
    WHERE mismatches.kind = 'webhook_contradiction' AND mismatches.transaction_seq IS NULL`.execute(db);
  await sql`INSERT INTO histories_to_mend (transaction_seq, reason)
    SELECT found.transaction_seq, 'dated' FROM (
      SELECT transaction_seq FROM events GROUP BY transaction_seq HAVING SUM(inferred) > 0 AND COUNT(*) > 1
    ) AS found
    ON DUPLICATE KEY UPDATE
      reason = IF(histories_to_mend.mended_at IS NULL, histories_to_mend.reason, 'dated'),
      mended_at = NULL`.execute(db);
}
