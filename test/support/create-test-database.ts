import { randomBytes } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import mysql from 'mysql2/promise';
import { inject } from 'vitest';
import type { ConnectionTarget } from '../../embedded/open-database.ts';
import type { TemplateName } from './make-templates.ts';

const made: string[] = [];

/** The connection to the run's database server: root, on its socket. */
export function testServer(): { socketPath: string; user: string } {
  return { socketPath: inject('socketPath'), user: 'root' };
}

/** Creates a database with the tables and rows of a template. It is dropped after the test file. */
export async function createTestDatabase(
  template: TemplateName | 'empty' = 'confere',
): Promise<ConnectionTarget & { socketPath: string; database: string }> {
  const database = `t_${randomBytes(6).toString('hex')}`;
  const copy = template === 'empty' ? '' : inject('templates')[template];
  await runAll(`CREATE DATABASE ${database} CHARACTER SET utf8mb4;\nUSE ${database};\n${copy}`);
  made.push(database);
  return { ...testServer(), database };
}

/** The databases of this test file, for what reads them before they are dropped. */
export function listMadeDatabases(): readonly string[] {
  return made;
}

/** The tables are gone, and the directory still holds a file: a thread of InnoDB had one of them open. */
const ER_DB_DROP_RMDIR = 1010;

/** Drops the databases that this test file created. An empty directory that stays goes with the run's server. */
export async function dropDatabases(): Promise<void> {
  for (const name of made.splice(0)) {
    await runAll(`DROP DATABASE IF EXISTS ${name}`).catch((error: { errno?: number }) => {
      if (error.errno !== ER_DB_DROP_RMDIR) throw error;
    });
  }
}

async function runAll(statements: string): Promise<void> {
  const connection = await mysql.createConnection({ ...testServer(), multipleStatements: true, charset: 'utf8mb4' });
  try {
    await connection.query(statements);
  } finally {
    connection.destroy();
  }
}

/** A table expression whose `seq` counts from 1 to `count`. MySQL does not have MariaDB's `seq_1_to_…`. */
export function numbersTo(count: number): RawBuilder<unknown> {
  const ones = sql.lit(`[${new Array(count).fill(1).join(',')}]`);
  return sql`JSON_TABLE(${ones}, '$[*]' COLUMNS (seq FOR ORDINALITY)) AS numbers`;
}
