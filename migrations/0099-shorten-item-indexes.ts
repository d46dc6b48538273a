import { type Kysely, sql } from 'kysely';

/**
 * Items are found by the first 16 characters of a transaction's id: 52 bits of a random UUID, or the whole time of one in the
 * order of time. An entry of either index then has half of its bytes, and the rows of one id are few.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [name, column] of INDEXES) {
    const { rows } = await sql<{ chars: number | null }>`SELECT SUB_PART AS chars FROM information_schema.STATISTICS
      WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'webhook_items' AND INDEX_NAME = ${name}
        AND SEQ_IN_INDEX = 1`.execute(db);
    if (rows.length > 0 && rows[0]?.chars !== null) continue;
    const drop = rows.length > 0 ? sql`DROP KEY ${sql.id(name)}, ` : sql``;
    // in one statement: at no time is there neither
    await sql`ALTER TABLE webhook_items ${drop}ADD KEY ${sql.id(name)} (${sql.id(column)}(16))`.execute(db);
  }
}

const INDEXES = [
  ['webhook_items_transaction', 'transaction_id'],
  ['webhook_items_resolved', 'resolved_id'],
] as const;
