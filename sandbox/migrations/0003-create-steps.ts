import { type Kysely, sql } from 'kysely';

/** Planned steps of transactions, made at their creation, so that they survive a restart. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS steps (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    transaction_seq BIGINT NOT NULL,
    status VARBINARY(32) NOT NULL,
    due_at DATETIME(3) NOT NULL,
    KEY due_at (due_at),
    KEY transaction_seq (transaction_seq)
  ) ENGINE=InnoDB`.execute(db);
}
