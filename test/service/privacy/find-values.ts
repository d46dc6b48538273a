import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../../../src/database/tables.ts';

/**
 * Where any of these values stands: in every column of every table, and in every file under the directories, workbooks
 * unpacked. Compared without case, a document without its punctuation too.
 * @returns `table.column` and file names, sorted.
 */
export async function findValues(db: Kysely<Database>, directories: string[], values: string[]): Promise<string[]> {
  const places = new Set<string>();
  const tables = await sql<{ name: string }>`SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = DATABASE()`.execute(db);
  for (const { name } of tables.rows) {
    const { rows } = await sql<Record<string, unknown>>`SELECT * FROM ${sql.table(name)}`.execute(db);
    for (const row of rows) {
      for (const [column, value] of Object.entries(row)) if (holds(value, values)) places.add(`${name}.${column}`);
    }
  }
  for (const directory of directories) {
    for (const name of listFiles(directory)) if (holds(readWhole(name), values)) places.add(path.basename(name));
  }
  return [...places].sort();
}

function holds(value: unknown, values: string[]): boolean {
  if (!(typeof value === 'string' || Buffer.isBuffer(value))) return false;
  const text = readEscapes(value.toString('utf8')).toLowerCase();
  const bare = text.replace(/[./-]/g, '');
  return values.some((one) => text.includes(one.toLowerCase()) || bare.includes(one.toLowerCase()));
}

function readEscapes(text: string): string {
  return text.replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

function listFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

const UNZIP =
  'import sys,zipfile\nz=zipfile.ZipFile(sys.argv[1])\nfor n in z.namelist(): sys.stdout.buffer.write(z.read(n))';

function readWhole(name: string): Buffer {
  if (!name.endsWith('.xlsx')) return readFileSync(name);
  return execFileSync('python3', ['-c', UNZIP, name], { maxBuffer: 64 * 1024 * 1024 });
}
