import { randomBytes } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import mysql from 'mysql2/promise';
import { inject } from 'vitest';
import type { ConnectionTarget } from '../../embedded/open-database.ts';
import { emptyDatabase } from './empty-database.ts';
import type { TemplateName } from './make-templates.ts';

type Made = { name: string; template: TemplateName | 'empty' };

/** The databases of this test file, and those of earlier files of this worker, which are taken again. */
const made: Made[] = [];
const left: Made[] = [];
/** Each takes memory of the server. Most files need fewer. */
const LEFT_MAX = 10;

/** The connection to the run's database server: root, on its socket. */
export function testServer(): { socketPath: string; user: string } {
  return { socketPath: inject('socketPath'), user: 'root' };
}

/** Creates a database with the tables and rows of a template, or takes one that an earlier file of this worker has left. */
export async function createTestDatabase(
  template: TemplateName | 'empty' = 'confere',
): Promise<ConnectionTarget & { socketPath: string; database: string }> {
  const database = (await takeAgain(template)) ?? (await create(template));
  made.push({ name: database, template });
  return { ...testServer(), database };
}

async function create(template: TemplateName | 'empty'): Promise<string> {
  const name = `t_${randomBytes(6).toString('hex')}`;
  const copy = template === 'empty' ? '' : inject('templates')[template].copy;
  await runAll(`CREATE DATABASE ${name} CHARACTER SET utf8mb4;\nUSE ${name};\n${copy}`);
  return name;
}

async function takeAgain(template: TemplateName | 'empty'): Promise<string | undefined> {
  for (;;) {
    const place = left.findIndex((one) => one.template === template);
    const [one] = place < 0 ? [] : left.splice(place, 1);
    if (one === undefined || template === 'empty') return undefined;
    if (await emptyDatabase(testServer(), one.name, inject('templates')[template])) return one.name;
    await drop(one.name);
  }
}

/** The databases of this test file, for what reads them before they are dropped. */
export function listMadeDatabases(): readonly string[] {
  return made.map((one) => one.name);
}

/** Leaves databases of this test file to the next one, and drops the others. What is left at the end goes with the run's server. */
export async function leaveDatabases(): Promise<void> {
  for (const one of made.splice(0)) {
    if (one.template === 'empty' || left.length >= LEFT_MAX) await drop(one.name);
    else left.push(one);
  }
}

/** The tables are gone, and the directory still holds a file: a thread of InnoDB had one of them open. */
const ER_DB_DROP_RMDIR = 1010;

async function drop(name: string): Promise<void> {
  await runAll(`DROP DATABASE IF EXISTS ${name}`).catch((error: { errno?: number }) => {
    if (error.errno !== ER_DB_DROP_RMDIR) throw error;
  });
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
