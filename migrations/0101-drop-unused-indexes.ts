import { type Kysely, sql } from 'kysely';

/**
 * Drops indexes that no statement uses (docs/indexes.md names those of each). A search by a reference or an e2e_id needs no wall clock
 * behind it: hardly two transactions share one. Mismatches are searched by the id of their transaction, never by its number.
 * `transactions_reference_day` keeps its name, which 0.1.0 states in a FORCE INDEX.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, changes] of Object.entries(CHANGES)) {
    const { rows } = await sql<{ name: string; columns: string }>`SELECT INDEX_NAME AS name,
        GROUP_CONCAT(CONCAT(COLUMN_NAME, COALESCE(CONCAT('(', SUB_PART, ')'), '')) ORDER BY SEQ_IN_INDEX) AS columns
      FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ${table} GROUP BY INDEX_NAME`.execute(
      db,
    );
    const now = new Map(rows.map(({ name, columns }) => [name, String(columns)]));
    const parts = Object.entries(changes).flatMap(([name, columns]) => [
      ...(now.has(name) && now.get(name) !== columns ? [sql`DROP KEY ${sql.id(name)}`] : []),
      ...(columns !== null && now.get(name) !== columns ? [sql`ADD KEY ${sql.id(name)} (${sql.raw(columns)})`] : []),
    ]);
    // in one statement: at no time is there neither
    if (parts.length > 0) await sql`ALTER TABLE ${sql.table(table)} ${sql.join(parts)}`.execute(db);
  }
}

/** The columns of each index; null: none. */
const CHANGES: Record<string, Record<string, string | null>> = {
  alert_sends: { alert_sends_due: null },
  corrections: { corrections_mismatch: null },
  platform_names: { platform_names_platform: null },
  statements: { statements_compared: null },
  mismatches: { mismatches_transaction: 'transaction_id(16)' },
  transactions: { transactions_reference_day: 'reference', transactions_e2e_day: 'e2e_id' },
};
