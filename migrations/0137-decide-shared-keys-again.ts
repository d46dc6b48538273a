import { type Kysely, sql } from 'kysely';

const BATCH = 10_000;

/**
 * Leaves work for each payment that a rule after those of keys matched, though orders have its reference or E2E id: these orders
 * keep it as a candidate since. Work that is left twice is decided once.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ last: number | null }>`SELECT MAX(seq) AS last FROM expected_matches`.execute(db);
  for (let after = 0; after < (rows[0]?.last ?? 0); after += BATCH)
    await sql`INSERT INTO expected_work (transaction_seq, created_at, due_at)
      SELECT made.transaction_seq, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) FROM expected_matches AS made
      LEFT JOIN expected_matches AS undone ON undone.undoes_seq = made.seq
      JOIN transactions ON transactions.seq = made.transaction_seq
      WHERE made.seq > ${sql.lit(after)} AND made.seq <= ${sql.lit(after + BATCH)}
        AND made.rule IN ('extra', 'document') AND undone.seq IS NULL
        AND EXISTS (SELECT 1 FROM expected_keys WHERE value IN (transactions.reference, transactions.e2e_id))
      LIMIT ${sql.lit(BATCH)}`.execute(db);
}
