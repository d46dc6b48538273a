import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { applyTransactions, generateTransactions } from '../../support/make-report-transactions.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { DEEP, numRuns } from '../../support/property.ts';

const MAIN = path.resolve(import.meta.dirname, '../../../src/main.ts');
const DAY = '2026-03-11';
const TRANSACTIONS = numRuns(400, 1_200);
/** In KiB, for that many: the first sheet, and in the deep run a later one and the CSV, the packed workbook. */
const LIMITS = DEEP ? [4, 40, 100, 200] : [4, 67];
const books = closeAfterAll(await openEnvironment());
let directory: string;

beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'confere-full-'));
  await applyTransactions(books.context, generateTransactions(TRANSACTIONS, [DAY], 3));
});
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
});

/** Runs `confere export` with a limit on the size of each file, in KiB: a write beyond it fails, as on a full disk. */
async function exportWithin(kib: number | 'unlimited', out: string): Promise<{ code: number; stderr: string }> {
  const { DATABASE_URL, SECRET_KEY } = books.context.config;
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    DATABASE_URL,
    SECRET_KEY: Buffer.from(SECRET_KEY ?? '').toString('base64'),
    DATA_DIR: directory,
  };
  const script = `ulimit -f ${kib} && exec "$@"`;
  const command = [process.execPath, MAIN, 'export', '--day', DAY, '--out', out];
  return await new Promise((resolve) => {
    execFile('bash', ['-c', script, 'bash', ...command], { env }, (error, _stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stderr });
    });
  });
}

test('a full disk at any moment fails with a clear error, and leaves no partial file', async () => {
  const out = path.join(directory, 'report.xlsx');
  const reports = path.join(directory, 'reports');
  for (const kib of LIMITS) {
    const { code, stderr } = await exportWithin(kib, out);
    expect([kib, code, stderr]).toEqual([kib, 1, expect.stringMatching(/EFBIG/)]);
    expect([kib, readdirSync(reports), existsSync(out)]).toEqual([kib, [], false]);
    expect(await books.context.db.selectFrom('reports').select('seq').execute()).toEqual([]);
  }
  expect(await exportWithin('unlimited', out)).toMatchObject({ code: 0 });
  const row = await books.context.db.selectFrom('reports').select(['revision', 'sha256']).executeTakeFirstOrThrow();
  expect(row.revision).toBe(1);
  expect(createHash('sha256').update(readFileSync(out)).digest()).toEqual(row.sha256);
}, 120_000);
