import { type Kysely, sql } from 'kysely';

/**
 * All webhooks, also lost ones: `fate` is the injected fault, `state` the progress of its delivery. The key is the
 * notification's `id` in the body; a repeat is a row of its own with the bytes of the first.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS webhooks (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    transaction_id VARBINARY(64) NOT NULL,
    status VARBINARY(32) NOT NULL,
    fate VARBINARY(16) NOT NULL,
    state VARBINARY(16) NOT NULL,
    body MEDIUMTEXT CHARACTER SET utf8mb4 NOT NULL,
    authorised TINYINT NOT NULL DEFAULT 1,
    attempts INT NOT NULL DEFAULT 0,
    answer VARCHAR(255) NULL,
    created_at DATETIME(3) NOT NULL,
    due_at DATETIME(3) NOT NULL,
    ended_at DATETIME(3) NULL,
    KEY due (state, due_at),
    KEY transaction_id (transaction_id),
    KEY fate (fate, state)
  ) ENGINE=InnoDB`.execute(db);
}
