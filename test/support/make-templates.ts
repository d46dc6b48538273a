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

/** The content of a database: each table's definition, its checksum, all triggers. */
type Shape = { tables: Record<string, { definition: string; checksum: string }>; triggers: string };

/** `copy`: the statements that create the tables and rows in an empty database of the same server. */
export type Template = Shape & { database: string; copy: string };
export type Templates = Record<TemplateName, Template>;

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
type Read = (sql: string) => Promise<Definition[]>;

async function readCopy(server: { socketPath: string; user: string }, database: string): Promise<Template> {
  const connection = await mysql.createConnection({ ...server, database, multipleStatements: true });
  const read: Read = async (sql) => (await connection.query<Definition[]>(sql))[0];
  const names = (await read('SHOW FULL TABLES WHERE Table_type = "BASE TABLE"')).map((row) =>
    String(Object.values(row)[0]),
  );
  const shape = await readShape(connection, names);
  const statements = ['SET foreign_key_checks = 0'];
  for (const [name, { definition, checksum }] of Object.entries(shape.tables)) {
    statements.push(definition);
    if (checksum !== NO_ROWS) statements.push(fillTable(name, database));
  }
  for (const row of await read('SHOW TRIGGERS')) {
    const [definition] = await read(`SHOW CREATE TRIGGER ${mysql.escapeId(String(row.Trigger))}`);
    statements.push(definition?.['SQL Original Statement'] ?? '');
  }
  await connection.end();
  return { ...shape, database, copy: statements.join(';\n') };
}

/** The answer of CHECKSUM TABLE for a table without rows. */
export const NO_ROWS = '0';

/** The statement that copies the rows of a template's table. */
export function fillTable(table: string, template: string): string {
  const name = mysql.escapeId(table);
  return `INSERT INTO ${name} SELECT * FROM ${mysql.escapeId(template)}.${name}`;
}

/** Reads the shape of the connection's database. @param names all its tables. */
export async function readShape(connection: mysql.Connection, names: string[]): Promise<Shape> {
  const quoted = names.map((name) => mysql.escapeId(name));
  const [definitions] = await connection.query<Definition[][]>(
    quoted.map((name) => `SHOW CREATE TABLE ${name}`).join(';'),
  );
  const [checksums] = await connection.query<RowDataPacket[]>(`CHECKSUM TABLE ${quoted.join(', ')}`);
  const [triggers] = await connection.query<RowDataPacket[]>('SHOW TRIGGERS');
  const tables = names.map((name, place) => [
    name,
    { definition: definitions[place]?.[0]?.['Create Table'] ?? '', checksum: String(checksums[place]?.Checksum) },
  ]);
  const shown = triggers.map(({ Trigger, Event, Table, Statement, Timing }) => [
    Trigger,
    Event,
    Table,
    Statement,
    Timing,
  ]);
  return { tables: Object.fromEntries(tables), triggers: JSON.stringify(shown) };
}
