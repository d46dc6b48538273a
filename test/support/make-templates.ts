import { fileURLToPath } from 'node:url';
import mysql, { type RowDataPacket } from 'mysql2/promise';
import { migrate } from '../../embedded/migrations/migrate.ts';
import { ensureDatabase, openDatabase } from '../../embedded/open-database.ts';

/** Folders of migrations, one for each template. */
const FOLDERS = {
  confere: fileURLToPath(new URL('../../migrations', import.meta.url)),
  sandbox: fileURLToPath(new URL('../../sandbox/migrations', import.meta.url)),
};

export type TemplateName = keyof typeof FOLDERS;

/** For each template, the statements that create its tables and rows in an empty database of the same server. */
export type Templates = Record<TemplateName, string>;

/** Runs the migrations of each folder once, in a database `<prefix>_<template>`. */
export async function makeTemplates(server: { socketPath: string; user: string }, prefix: string): Promise<Templates> {
  const made = Object.entries(FOLDERS).map(async ([name, folder]) => {
    const database = `${prefix}_${name}`;
    await ensureDatabase(server, database);
    await using opened = openDatabase<unknown>({ ...server, database });
    await migrate(opened.db, { folder, log: () => undefined });
    return [name, await readCopy(server, database)] as const;
  });
  return Object.fromEntries(await Promise.all(made)) as Templates;
}

type Definition = RowDataPacket & { 'Create Table'?: string; 'SQL Original Statement'?: string };

async function readCopy(server: { socketPath: string; user: string }, database: string): Promise<string> {
  const connection = await mysql.createConnection({ ...server, database });
  const read = async (sql: string): Promise<Definition[]> => (await connection.query<Definition[]>(sql))[0];
  const statements = ['SET foreign_key_checks = 0'];
  for (const row of await read('SHOW FULL TABLES WHERE Table_type = "BASE TABLE"')) {
    const table = mysql.escapeId(String(Object.values(row)[0]));
    const [definition] = await read(`SHOW CREATE TABLE ${table}`);
    statements.push(definition?.['Create Table'] ?? '');
    if ((await read(`SELECT 1 FROM ${table} LIMIT 1`)).length > 0) {
      statements.push(`INSERT INTO ${table} SELECT * FROM ${mysql.escapeId(database)}.${table}`);
    }
  }
  for (const row of await read('SHOW TRIGGERS')) {
    const [definition] = await read(`SHOW CREATE TRIGGER ${mysql.escapeId(String(row.Trigger))}`);
    statements.push(definition?.['SQL Original Statement'] ?? '');
  }
  await connection.end();
  return statements.join(';\n');
}
