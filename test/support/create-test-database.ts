import { randomBytes } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import mysql from 'mysql2/promise';
import { inject } from 'vitest';
import type { ConnectionTarget } from '../../embedded/open-database.ts';
import type { TemplateName } from './make-templates.ts';

const made: string[] = [];

/** The run's real database server: connect with this, as root, on its socket. */
export function testServer(): { socketPath: string; user: string } {
  return { socketPath: inject('socketPath'), user: 'root' };
}

/** A database of one's own with the tables of a template and no rows but the template's; dropped after the test file. */
export async function createTestDatabase(
  template: TemplateName | 'empty' = 'confere',
): Promise<ConnectionTarget & { socketPath: string; database: string }> {
  const database = `t_${randomBytes(6).toString('hex')}`;
  const copy = template === 'empty' ? '' : inject('templates')[template];
  await runAll(`CREATE DATABASE ${database} CHARACTER SET utf8mb4;\nUSE ${database};\n${copy}`);
  made.push(database);
  return { ...testServer(), database };
}

/** Drops what this test file made. */
export async function dropDatabases(): Promise<void> {
  if (made.length === 0) return;
  const drops = made.splice(0).map((name) => `DROP DATABASE IF EXISTS ${name}`);
  await runAll(drops.join(';\n'));
}

async function runAll(statements: string): Promise<void> {
  const connection = await mysql.createConnection({ ...testServer(), multipleStatements: true, charset: 'utf8mb4' });
  try {
    await connection.query(statements);
  } finally {
    connection.destroy();
  }
}

/** Rows whose `seq` counts from 1 to this, to select from: MariaDB's own `seq_1_to_…` is its own alone. */
export function numbersTo(count: number): RawBuilder<unknown> {
  const ones = sql.lit(`[${new Array(count).fill(1).join(',')}]`);
  return sql`JSON_TABLE(${ones}, '$[*]' COLUMNS (seq FOR ORDINALITY)) AS numbers`;
}
