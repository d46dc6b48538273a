import { sql } from 'kysely';
import type { Reader } from '../database/reader.ts';
import { ConfereError } from '../domain/errors.ts';

/** Tables that are only appended to; their changing state is in other tables. */
export const APPEND_ONLY_TABLES = [
  ...(['events', 'entries', 'postings', 'seals', 'seal_stragglers', 'accepted_surpluses', 'audit'] as const),
  ...([
    'expected_versions',
    'expected_keys',
    'expected_cancellations',
    'expected_matches',
    'expected_changes',
  ] as const),
  ...(['audit_archives', 'bank_statements', 'bank_lines', 'bank_matches', 'imports', 'day_manifests'] as const),
  ...(['log_hashes', 'log_origins', 'log_checkpoints', 'log_cosignatures'] as const),
] as const;

/** The members of a MySQL group, and where its settings come from. */
const GROUP_TABLES = ['replication_group_members', 'variables_info'];

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
  const changing = rows.filter(({ name }) => !(APPEND_ONLY_TABLES as readonly string[]).includes(name));
  const { rows: groups } = await sql`SHOW GLOBAL VARIABLES LIKE 'group_replication_group_name'`.execute(db);
  return [
    ...(groups.length > 0
      ? GROUP_TABLES.map((name) => `GRANT SELECT ON performance_schema.${name} TO ${account};`)
      : []),
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
