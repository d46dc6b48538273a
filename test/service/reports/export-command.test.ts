import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createConnection } from 'mysql2/promise';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';

const HERE = process.cwd();
let target: Awaited<ReturnType<typeof createTestDatabase>>;
let directory: string;
let env: Record<string, string>;

beforeAll(async () => {
  const database = await createTestDatabase();
  target = database;
  directory = mkdtempSync(path.join(tmpdir(), 'confere-export-'));
  env = {
    DATABASE_URL: `mysql://root@localhost/${database.database}?socket=${encodeURIComponent(database.socketPath)}`,
    SECRET_KEY: randomBytes(32).toString('base64'),
    DATA_DIR: directory,
  };
  // relative names of files are the operator's
  process.chdir(directory);
  await confere('migrate');
});
afterAll(() => {
  process.chdir(HERE);
  rmSync(directory, { recursive: true, force: true });
});

async function confere(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const { code, out, err } = await runCommandInProcess(args, env);
  return { code: code ?? -1, stdout: out, stderr: err };
}

test('export writes the workbook under its own name, and prints its facts as JSON', async () => {
  const { code, stdout } = await confere('export', '--day', '2026-03-11', '--json');
  expect(code).toBe(0);
  const facts = JSON.parse(stdout);
  expect(facts).toMatchObject({ day: '2026-03-11', revision: 1, format: 'xlsx', changed: true });
  expect(path.basename(facts.file)).toBe('confere-2026-03-11-r1.xlsx');
  expect(readFileSync(facts.file).subarray(0, 2).toString()).toBe('PK');
});

test('export writes the file, and nothing else, to standard output', async () => {
  const { code, stdout } = await confere('export', '--day', '2026-03-11', '--format', 'csv', '--out', '-');
  expect(code).toBe(0);
  expect(stdout.startsWith('\uFEFFData e hora;Movimento')).toBe(true);
  const range = ['--from', '2026-03-10', '--to', '2026-03-11', '--format', 'journal', '--out', '-'];
  const exported = await confere('export', ...range);
  expect(exported.stdout).toMatch(/^; Confere, 2026-03-10 to 2026-03-11/);
  // what may change is said beside the file
  expect(exported.stderr).toBe('not closed, so that its figures can change: 2026-03\n');
});

test('each export is audited by its file name', async () => {
  expect((await confere('export', '--day', '2026-03-05', '--format', 'journal', '--out', 'one')).code).toBe(0);
  const range = ['--from', '2026-03-05', '--to', '2026-03-06', '--format', 'journal', '--out', '-'];
  expect((await confere('export', ...range)).code).toBe(0);
  expect(await readExports('confere-2026-03-05%')).toEqual([
    { actor: 'command', action: 'reports.export', target: 'confere-2026-03-05-r1.journal' },
    { actor: 'command', action: 'reports.export', target: 'confere-2026-03-05-2026-03-06.journal' },
  ]);
});

async function readExports(like: string): Promise<unknown> {
  const { socketPath, database, user } = target;
  const connection = await createConnection({ socketPath, database, user });
  try {
    const sql = `SELECT CAST(actor AS CHAR) AS actor, CAST(action AS CHAR) AS action, CAST(target AS CHAR) AS target
      FROM audit WHERE target LIKE ? ORDER BY seq`;
    return (await connection.query(sql, [like]))[0];
  } finally {
    await connection.end();
  }
}

test.each([
  [[], 'say which day'],
  [['--day', '2026-02-30'], '--day must be a day: YYYY-MM-DD'],
  [['--day', '2999-01-01'], 'is a day to come'],
  [['--day', '2026-03-11', '--format', 'parquet'], "parquet' is invalid. Allowed choices are xlsx, csv, journal, ofx"],
  [['--day', '2026-03-11', '--locale', 'fr'], 'Allowed choices are pt-BR, en'],
  [['--from', '2026-03-11', '--to', '2026-03-10'], 'ends before it begins: 2026-03-11 is after 2026-03-10'],
  [['--from', '2026-01-01', '--to', '2026-04-03'], 'has 93 days: at most 92 are allowed'],
  [['--from', '2026-03-11', '--format', 'journal'], '--from goes with --to'],
  [['--day', '2026-03-11', '--nonsense'], 'unknown option'],
])('export %j is a usage error: exit 2 with the reason', async (args, reason) => {
  const { code, stderr } = await confere('export', ...args);
  expect([code, stderr]).toEqual([2, expect.stringContaining(reason)]);
});

test('an unknown platform is refused for a day and a range, and nothing is written or audited', async () => {
  const platform = ['--platform', 'nobody', '--out', path.join(directory, 'nobody')];
  for (const days of [
    ['--day', '2026-03-07'],
    ['--from', '2026-03-07', '--to', '2026-03-08', '--format', 'journal'],
  ]) {
    const { code, stderr } = await confere('export', ...days, ...platform);
    expect([code, stderr]).toEqual([2, expect.stringContaining('nothing is known of a platform nobody')]);
  }
  expect(existsSync(path.join(directory, 'nobody'))).toBe(false);
  expect(await readExports('confere-2026-03-07%')).toEqual([]);
});

test('a file that cannot be written is a failure: exit 1, and no file', async () => {
  const out = path.join(directory, 'absent', 'report.xlsx');
  expect((await confere('export', '--day', '2026-03-11', '--out', out)).code).toBe(1);
  expect(existsSync(out)).toBe(false);
});
