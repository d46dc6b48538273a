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
    const files = listFiles(directory);
    for (const name of files.filter((one) => !isWorkbook(one)))
      if (holds(readFileSync(name), values)) places.add(path.basename(name));
    for (const [name, bytes] of unzip(files.filter(isWorkbook)))
      if (holds(bytes, values)) places.add(path.basename(name));
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

/** Writes for each file the length of what it holds, on a line, and what it holds. */
const UNZIP = `import sys, zipfile
for name in sys.argv[1:]:
    with zipfile.ZipFile(name) as archive:
        held = b''.join(archive.read(entry) for entry in archive.namelist())
    sys.stdout.buffer.write(b'%d\\n' % len(held) + held)`;

const isWorkbook = (name: string): boolean => name.endsWith('.xlsx');

/** Reads all workbooks by one program: starting it takes longer than reading one. */
function unzip(names: string[]): [name: string, bytes: Buffer][] {
  if (names.length === 0) return [];
  let rest = execFileSync('python3', ['-c', UNZIP, ...names], { maxBuffer: 256 * 1024 * 1024 });
  return names.map((name) => {
    const start = rest.indexOf('\n') + 1;
    const end = start + Number(rest.toString('latin1', 0, start));
    const bytes = rest.subarray(start, end);
    rest = rest.subarray(end);
    return [name, bytes];
  });
}
