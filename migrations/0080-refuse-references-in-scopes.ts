import { type Kysely, sql } from 'kysely';

/**
 * Refuses a database in which a build before 0.1.0 stored a reference as the scope of a mismatch or in an alert. Version 0.1.0
 * replaces it by a keyed hash when it starts; a migration cannot, since it has no key. A database of 0.1.0 or later has none.
 * @throws Error if there is one.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // `;` follows `:` in byte order
  const { rows } = await sql<{ count: number }>`
    SELECT (SELECT COUNT(*) FROM mismatches WHERE kind = 'duplicate_reference' AND scope >= 'reference:' AND scope < 'reference;')
      + (SELECT COUNT(*) FROM alerts WHERE name = 'duplicate_reference'
          AND (scope LIKE 'reference:%' OR summary LIKE 'duplicate_reference: reference:%' OR summary LIKE '%; one of them: reference:%'))
      AS count`.execute(db);
  const left = Number(rows[0]?.count);
  if (left === 0) return;
  throw new Error(
    `${left} mismatches and alerts of a build before 0.1.0 contain a reference: start version 0.1.0 once (confere serve), then this one`,
  );
}
