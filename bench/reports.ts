import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { joinServer } from '../embedded/join-server.ts';
import { migrate } from '../embedded/migrations/migrate.ts';
import { ensureDatabase, openDatabase } from '../embedded/open-database.ts';
import type { Database } from '../src/database/tables.ts';
import { type Figure, figure } from './figure.ts';
import { type Load, loadDays } from './reports-load.ts';

const run_ = promisify(execFile);
const WORKER = fileURLToPath(new URL('./programs/reports-worker.ts', import.meta.url));
const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url));
const SMALL = { day: '2026-03-11', days: 1, rows: 100_000 };
const LARGE = { day: '2026-03-12', days: 1, rows: 1_000_000 };
const MONTH = { day: '2026-01-01', days: 31, rows: 1_000_000 };
const MONTH_RANGE = '2026-01-01..2026-01-31';
const CSV_ROWS = 500_000;
const RATE_TARGET = 0.9;
const MEMORY_RATIO_TARGET = 1.5;
const MEMORY_TARGET_MIB = 450;
const LARGE_SECONDS_MAX = 60;
const TIME_RATIO_TARGET = 1.15;
const CSV_TARGET = 150_000;
const FILE_ROWS_FEW = 100_000;
const FILE_TARGET = 100_000;

type Measured = { rows: number; seconds: number; peakMiB: number };

/** The daily report against exceljs alone, at 100,000 and at 1,000,000 transactions, and a month of 1,000,000, in one run. */
export async function run(): Promise<Figure[]> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'confere-bench-reports-db-'));
  try {
    await using server = await joinServer({ dataDir, log: () => undefined });
    // one database each: rows of other days must not affect the figure
    const [small, large] = [await load(server.socketPath, SMALL), await load(server.socketPath, LARGE)];
    const bare = await measure(small, 'exceljs', SMALL.rows);
    const few = await measure(small, 'report', SMALL.day);
    const many = await measure(large, 'report', LARGE.day);
    const ofMonth = await measure(await load(server.socketPath, MONTH), 'range', MONTH_RANGE);
    const csv = await measure(small, 'csv', CSV_ROWS);
    return [...compare(bare, few, many, csv), compareMonth(many, ofMonth), ...(await measureFiles(small))];
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** The workbook of a month against that of a day with as many movements. */
function compareMonth(day: Measured, month: Measured): Figure {
  const time = month.seconds / month.rows / (day.seconds / day.rows);
  return {
    figure: "report: a month of 1,000,000 movements: peak memory; time a row against the day's",
    value: `${month.peakMiB} MiB; ${time.toFixed(2)} ×`,
    target: `≤ ${MEMORY_TARGET_MIB} MiB; ≤ ${TIME_RATIO_TARGET} ×`,
    ok: month.peakMiB <= MEMORY_TARGET_MIB && time <= TIME_RATIO_TARGET,
  };
}

/** The files of other programs: rows a second, and memory that does not grow with them. */
async function measureFiles(env: NodeJS.ProcessEnv): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [format, name] of [
    ['ofx', 'OFX'],
    ['lancamentos', 'accounting CSV'],
  ] as const) {
    const [few, many] = [await measure(env, format, FILE_ROWS_FEW), await measure(env, format, CSV_ROWS)];
    const rate = many.rows / many.seconds;
    const memory = many.peakMiB / few.peakMiB;
    figures.push({
      figure: `report: ${name} movements a second; peak memory of 500,000 against 100,000`,
      value: `${Math.round(rate).toLocaleString('en')}; ${memory.toFixed(2)} ×, ${many.peakMiB} MiB`,
      target: `≥ ${FILE_TARGET.toLocaleString('en')}; ≤ ${MEMORY_RATIO_TARGET} ×`,
      ok: rate >= FILE_TARGET && memory <= MEMORY_RATIO_TARGET,
    });
  }
  return figures;
}

async function load(socketPath: string, days: Load): Promise<NodeJS.ProcessEnv> {
  const target = { socketPath, user: 'root', database: `bench_${days.days}_${days.rows}` };
  await ensureDatabase(target, target.database);
  await using opened = openDatabase<Database>(target);
  await migrate(opened.db, { folder: MIGRATIONS, log: () => undefined });
  await loadDays(opened.db, days);
  return {
    ...process.env,
    DATABASE_URL: `mysql://root@localhost/${target.database}?socket=${encodeURIComponent(socketPath)}`,
    SECRET_KEY: randomBytes(32).toString('base64'),
  };
}

async function measure(env: NodeJS.ProcessEnv, mode: string, argument: string | number): Promise<Measured> {
  const { stdout } = await run_(process.execPath, [WORKER, mode, String(argument)], { env });
  return JSON.parse(stdout) as Measured;
}

function compare(bare: Measured, small: Measured, large: Measured, csv: Measured): Figure[] {
  const rate = (one: Measured): number => one.rows / one.seconds;
  const words = (one: Measured): string => `${Math.round(rate(one)).toLocaleString('en')} rows/s, ${one.peakMiB} MiB`;
  const ratio = rate(small) / rate(bare);
  const memory = large.peakMiB / small.peakMiB;
  const time = rate(small) / rate(large);
  return [
    {
      figure: 'report: 100,000 transactions from the database to all files, against bare exceljs streaming its sheets',
      value: `${ratio.toFixed(2)} × (${words(small)}; exceljs ${words(bare)})`,
      target: `≥ ${RATE_TARGET} ×`,
      ok: ratio >= RATE_TARGET,
    },
    {
      figure: 'report: peak memory of 1,000,000 transactions against 100,000',
      value: `${memory.toFixed(2)} ×, ${large.peakMiB} MiB`,
      target: `≤ ${MEMORY_RATIO_TARGET} × and ≤ ${MEMORY_TARGET_MIB} MiB`,
      ok: memory <= MEMORY_RATIO_TARGET && large.peakMiB <= MEMORY_TARGET_MIB,
    },
    figure('report of a day of 1,000,000 transactions, all files, read back, s', large.seconds, LARGE_SECONDS_MAX),
    {
      figure: 'report: time a row at 1,000,000 against 100,000',
      value: `${time.toFixed(2)} × (${words(large)})`,
      target: `< ${TIME_RATIO_TARGET} ×`,
      ok: time < TIME_RATIO_TARGET,
    },
    {
      figure: 'report: CSV rows a second',
      value: words(csv),
      target: `≥ ${CSV_TARGET.toLocaleString('en')}`,
      ok: rate(csv) >= CSV_TARGET,
    },
  ];
}
