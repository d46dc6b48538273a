/**
 * `npm run night`: the service as its operator runs it, with Prometheus, Alertmanager and the files of ops/, and one fault after
 * the other. It passes if each is noticed within 2 minutes, pages once at most and under its own name, shows on the first page,
 * and is over within 2 minutes of its end; else exit code 1. NIGHT_ROWS runs only these rows ('provider 503,disk full'),
 * NIGHT_INSTALLATIONS installations side by side (2), NIGHT_KEEP keeps their files. A run of all rows writes docs/reliability.md.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeTable } from './deep.ts';
import { FAULTS, type Fault } from './night-shift/faults.ts';
import { type Row, runFault } from './night-shift/run-fault.ts';
import { startInstallation } from './night-shift/start-installation.ts';
import { formatTable } from './run-parts.ts';

const INSTALLATIONS = Number(process.env.NIGHT_INSTALLATIONS ?? 2);

async function main(): Promise<boolean> {
  const wanted = process.env.NIGHT_ROWS?.split(',');
  const faults = FAULTS.filter(({ name }) => !wanted || wanted.includes(name));
  const home = mkdtempSync(path.join(tmpdir(), 'confere-night-'));
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  const left = [...faults];
  const rows: Row[] = [];
  const running = Array.from({ length: Math.min(INSTALLATIONS, faults.length) }, (_, n) =>
    runInstallation(path.join(home, String(n)), { left, rows, signal: stopping.signal }),
  );
  const ended = await Promise.allSettled(running);
  if (process.env.NIGHT_KEEP) say(`kept ${home}`);
  else rmSync(home, { recursive: true, force: true });
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
  const ordered = faults.flatMap(({ name }) => rows.filter((row) => row.name === name));
  const table = formatTable(
    ordered.map(({ faults: failed, name, verdicts: _, ...row }) => ({
      fault: name,
      ...row,
      holds: failed.join('; ') || 'yes',
    })),
  );
  say(`\n${table}`);
  if (!wanted && !process.env.DEEP_PARTS) writeTable('night shift', table);
  return ordered.every(({ faults: failed }) => failed.length === 0);
}

/** Takes one fault after the other, until none is left. */
async function runInstallation(
  home: string,
  { left, rows, signal }: { left: Fault[]; rows: Row[]; signal: AbortSignal },
): Promise<void> {
  mkdirSync(home, { recursive: true });
  await using installation = await startInstallation(home, signal);
  for (let fault = left.shift(); fault; fault = left.shift()) {
    signal.throwIfAborted();
    const missing = fault.missing?.(installation);
    const row = missing
      ? {
          name: fault.name,
          noticed: `skipped: ${missing}`,
          pages: '',
          verdict: '',
          ended: '',
          verdicts: '',
          faults: [],
        }
      : await runFault(installation, fault);
    rows.push(row);
    say(JSON.stringify(row));
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit((await main()) ? 0 : 1);
