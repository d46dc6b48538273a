import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { addDays } from '../src/domain/calendar.ts';
import type { PresentedRun } from '../src/reconciliation/numbers/read-runs.ts';
import type { Figure } from './figure.ts';
import { type Bench, openBench } from './reconcile-setup.ts';

const CONFERE = fileURLToPath(new URL('../bin/confere', import.meta.url));
const DAYS = Number(process.env.BACKFILL_DAYS ?? 200);
const PER_DAY = 5_000;
const MEMORY_TARGET_MIB = 300;
/** The case with most memory: a pass holds its rows of a day until it is checked. */
const LARGE_DAY_ROWS = 200_000;
const SETTLED_DAYS = 90;
const REQUESTS_TARGET = 600;
const SAMPLE_EVERY_MS = 250;

/** `confere reconcile` over a million transactions, over a very large day, and the cost to prove 90 settled days again. */
export async function run(): Promise<Figure[]> {
  return [...(await readYears()), await readLargeDay()];
}

async function readLargeDay(): Promise<Figure> {
  await using bench = await openBench({ days: 1, perDay: LARGE_DAY_ROWS });
  return describeMemory('in one day', await backfill(bench), LARGE_DAY_ROWS);
}

async function readYears(): Promise<Figure[]> {
  await using bench = await openBench({ days: DAYS, perDay: PER_DAY });
  const whole = await backfill(bench);
  const settled = { from: addDays(bench.lastDay, 1 - SETTLED_DAYS), to: bench.lastDay };
  const read = await bench.work({ ...settled, how: 'read' });
  const counted = await bench.work({ ...settled, how: 'count' });
  const { requests, days_counted: days } = counted.run;
  return [
    describeMemory(`in ${DAYS} days`, whole, DAYS * PER_DAY),
    {
      figure: `requests to prove ${SETTLED_DAYS} settled days of ${PER_DAY} again (read whole: ${read.run.requests}); ${days} by counts`,
      value: String(requests),
      target: `< ${REQUESTS_TARGET}`,
      ok: requests < REQUESTS_TARGET && days === SETTLED_DAYS,
    },
  ];
}

function describeMemory(
  where: string,
  { run, ms, peakMiB }: Awaited<ReturnType<typeof backfill>>,
  rows: number,
): Figure {
  return {
    figure: `confere reconcile, ${run.applied.toLocaleString('en')} new transactions ${where} in ${Math.round(ms / 1000)} s: peak of memory`,
    value: `${Math.round(peakMiB)} MiB`,
    target: `< ${MEMORY_TARGET_MIB} MiB`,
    ok: peakMiB < MEMORY_TARGET_MIB && run.applied === rows,
  };
}

async function backfill(bench: Bench): Promise<{ run: PresentedRun; ms: number; peakMiB: number }> {
  const began = performance.now();
  const args = ['reconcile', '--from', bench.firstDay, '--to', bench.lastDay, '--json'];
  const child = spawn(CONFERE, args, {
    env: { ...process.env, ENV_FILE: '', ...bench.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let peakMiB = 0;
  const sampling = setInterval(() => {
    peakMiB = Math.max(peakMiB, readPeakMiB(child));
  }, SAMPLE_EVERY_MS);
  const ended = once(child, 'close');
  const out = await text(child.stdout);
  await ended;
  clearInterval(sampling);
  return { run: JSON.parse(out) as PresentedRun, ms: performance.now() - began, peakMiB };
}

/** Returns the peak resident memory of a process, as the kernel counts it. */
function readPeakMiB(child: ChildProcess): number {
  try {
    const match = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'));
    return Number(match?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
