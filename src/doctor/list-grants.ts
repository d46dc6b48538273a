import { sql } from 'kysely';
import type { Reader } from '../database/reader.ts';
import { ConfereError } from '../domain/errors.ts';

/** Tables that are only appended to, each with a column by which a change is tried; their changing state is in other tables. */
export const APPEND_ONLY = {
  events: 'status',
  entries: 'kind',
  postings: 'position',
  seals: 'entries',
  seal_stragglers: 'position',
  accepted_surpluses: 'surplus',
  audit: 'target',
  audit_archives: 'entries',
  expected_versions: 'version',
  expected_keys: 'kind',
  expected_cancellations: 'actor',
  expected_matches: 'rule',
  expected_changes: 'state',
  bank_statements: 'position',
  bank_lines: 'type',
  bank_matches: 'rule',
  imports: 'kind',
  day_manifests: 'revision',
  log_hashes: 'kind',
  log_origins: 'from_size',
  log_checkpoints: 'size',
  log_cosignatures: 'line',
} as const;
export const APPEND_ONLY_TABLES: readonly string[] = Object.keys(APPEND_ONLY);

/**
 * Returns the statements that grant a user the minimum for `serve`: read and insert everywhere, change everything but
 * append-only tables; on a member of a group, also to read the members. They name the tables that exist now: run them again after a migration.
 * @param user `name` or `name@host`.
 * @throws ConfereError `wrong_use` for a name that no server accepts.
 */
export async function listGrants(db: Reader, user: string): Promise<string[]> {
  const account = quoteAccount(user);
  const { rows } = await sql<{ name: string; home: string }>`
    SELECT table_name AS name, table_schema AS home FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY table_name`.execute(db);
  const database = rows[0]?.home ?? '';
  const home = quoteName(database);
  const wide = quoteName((await readsWildcards(db)) ? database.replaceAll(/[_%]/g, '\\$&') : database);
  const changing = rows.filter(({ name }) => !APPEND_ONLY_TABLES.includes(name));
  const { rows: groups } = await sql`SHOW GLOBAL VARIABLES LIKE 'group_replication_group_name'`.execute(db);
  return [
    ...(groups.length > 0 ? [`GRANT SELECT ON performance_schema.replication_group_members TO ${account};`] : []),
    `GRANT SELECT, INSERT, LOCK TABLES ON ${wide}.* TO ${account};`,
    ...changing.map(({ name }) => `GRANT UPDATE, DELETE ON ${home}.${quoteName(name)} TO ${account};`),
  ];
}

/**
 * Whether `_` and `%` before `.*`, and only there, are wildcards, which would grant other databases too. False on a
 * MySQL with partial revokes, which would read the escaping backslash as part of the name.
 */
async function readsWildcards(db: Reader): Promise<boolean> {
  const { rows } = await sql<{ Value: string }>`SHOW GLOBAL VARIABLES LIKE 'partial_revokes'`.execute(db);
  return rows[0]?.Value !== 'ON';
}

function quoteAccount(user: string): string {
  const match = /^([^@'"\\`\s]{1,80})(?:@([A-Za-z0-9_.:%/-]{1,255}))?$/.exec(user);
  if (!match?.[1]) throw new ConfereError('wrong_use', `${user} is no user: write it as name, or name@host`);
  return `'${match[1]}'@'${match[2] ?? '%'}'`;
}

function quoteName(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}
