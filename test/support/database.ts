import { randomBytes } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { inject } from 'vitest';
import { type ConnectionTarget, ensureDatabase } from '../../embedded/pool.ts';

/** The names of the databases that tests make. */
export const TEST_DATABASE = /^t_[0-9a-f]{12}$/;

/** The run's real database server: connect with this, as root, on its socket. */
export function testServer(): { socketPath: string; user: string } {
  return { socketPath: inject('socketPath'), user: 'root' };
}

/** A database of one's own, empty. */
export async function freshDatabase(): Promise<ConnectionTarget & { socketPath: string; database: string }> {
  const database = `t_${randomBytes(6).toString('hex')}`;
  await ensureDatabase(testServer(), database);
  return { ...testServer(), database };
}

/** Rows whose `seq` counts from 1 to this, to select from: MariaDB's own `seq_1_to_…` is its own alone. */
export function numbersTo(count: number): RawBuilder<unknown> {
  const ones = sql.lit(`[${new Array(count).fill(1).join(',')}]`);
  return sql`JSON_TABLE(${ones}, '$[*]' COLUMNS (seq FOR ORDINALITY)) AS numbers`;
}
