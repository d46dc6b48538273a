/**
 * `npm run test:deep`: the tests that take too long for `npm test`. Many seeds of every property and model test, crashes and
 * unstable lists, short soaks, the database cluster: one after another, each to its end, then one table. Exit code 1 when a
 * part failed. The table is also written to docs/reliability.md. TEST_SEED repeats a run with its seed. DEEP_PARTS runs only
 * these parts (`DEEP_PARTS=seeds,soak`) and does not change the document. A signal ends the current part and starts no other;
 * the table shows the parts that ran.
 */
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { accessSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ENGINES_BIN } from '../test/support/engines.ts';
import { formatTable, type Part, runParts } from './run-parts.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DOCUMENT = path.join(ROOT, 'docs/reliability.md');
/** The many seeds of a property take minutes; `npm test` allows one minute. */
const TEST_MS_MAX = 60 * 60_000;
const VITEST = ['node_modules/vitest/vitest.mjs', 'run', `--testTimeout=${TEST_MS_MAX}`];
/** Tests that kill processes or change lists during reads. TEST_DEEP sets their number of rounds. */
const CRASHES = [
  'test/service/callbacks/crash.test.ts',
  'test/service/end-to-end/crash.test.ts',
  'test/service/spool/spool.test.ts',
  'test/service/spool/killed-database.test.ts',
  'test/service/reconciliation/take-over-run.test.ts',
  'test/service/sandbox/listing.test.ts',
  'test/unit/provider/read-list.test.ts',
];

const seed = Number(process.env.TEST_SEED ?? randomInt(2 ** 31));

function listParts(): Part[] {
  return [
    { name: 'seeds', args: [...VITEST, ...findSeeded()], seed },
    { name: 'crashes and drift', args: [...VITEST, ...CRASHES], seed },
    { name: 'soak', args: ['bench/soak.ts'], env: { SOAK_MINUTES: '2', SOAK_FUZZ_SECONDS: '30' }, missing: findWrk() },
    { name: 'soak of callbacks', args: ['bench/soak-callbacks.ts'], env: { SOAK_CALLBACKS: '60000' } },
    { name: 'soak of replicas', args: ['bench/soak-replicas.ts'], seed },
    { name: 'night shift', args: ['bench/night-shift.ts'], missing: findPrometheus() },
    { name: 'engines', args: [...VITEST, '--config', 'vitest.engines.config.ts'], missing: findEngine('mysqld') },
    ...['mariadbd', 'mysqld'].map((server) => ({
      name: `service tests on ${server}`,
      args: ['test/support/run-on-engine.ts', server, 'test/service'],
      missing: findEngine(server),
    })),
  ];
}

/** Returns the test files whose number of runs depends on TEST_DEEP. */
function findSeeded(): string[] {
  const files = globSync('test/{unit,service,browser}/**/*.test.ts', { cwd: ROOT }).sort();
  const isSeeded = (file: string): boolean =>
    /support\/property\.ts|TEST_DEEP/.test(readFileSync(path.join(ROOT, file), 'utf8'));
  return files.filter((file) => !CRASHES.includes(file) && isSeeded(file));
}

function findWrk(): string | undefined {
  return findCommand('wrk') ? undefined : 'no wrk here';
}

function findEngine(server: string): string | undefined {
  return existsSync(path.join(ENGINES_BIN, server)) ? undefined : `no ${server} of bin/setup --engines here`;
}

function findPrometheus(): string | undefined {
  const lacking = ['prometheus', 'prometheus-alertmanager'].filter((name) => !findCommand(name));
  return lacking.length > 0 ? `no ${lacking.join(', ')} here` : undefined;
}

function findCommand(name: string): boolean {
  return [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin'].some((directory) => {
    try {
      accessSync(path.join(directory, name));
      return true;
    } catch {
      return false;
    }
  });
}

function describeMachine(): string {
  const cpus = os.cpus();
  const memory = Math.round(os.totalmem() / 2 ** 30);
  return `${cpus.length} × ${cpus[0]?.model.trim()}, ${memory} GiB, ${os.type()} ${os.release()}, Node ${process.version}`;
}

function describeCommit(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  try {
    return git('rev-parse', '--short=12', 'HEAD') + (git('status', '--porcelain') === '' ? '' : ', with changes');
  } catch {
    return 'unknown';
  }
}

/**
 * Replaces a table in the document, with the date, the commit and the machine.
 * @param name as its markers have it. @throws Error if they are missing.
 */
export function writeTable(name: string, table: string, more: string[] = []): void {
  const [begins, ends] = [`<!-- ${name}: written by npm run test:deep -->`, `<!-- end of ${name} -->`];
  const text = readFileSync(DOCUMENT, 'utf8');
  const [from, to] = [text.indexOf(begins), text.indexOf(ends)];
  if (from < 0 || to < from) throw new Error(`docs/reliability.md lacks the lines ${begins} and ${ends}`);
  const facts = [
    `- date: ${new Date().toISOString().slice(0, 16)}Z`,
    `- commit: ${describeCommit()}`,
    `- machine: ${describeMachine()}`,
    ...more,
  ];
  const block = `${begins}\n\n${facts.join('\n')}\n\n${table}\n\n`;
  writeFileSync(DOCUMENT, text.slice(0, from) + block + text.slice(to));
}

async function main(): Promise<boolean> {
  const wanted = process.env.DEEP_PARTS?.split(',');
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  const parts = listParts().filter(({ name }) => !wanted || wanted.includes(name));
  const done = await runParts(parts, stopping.signal);
  const table = formatTable(done);
  process.stdout.write(`\n${table}\n`);
  const seconds = done.reduce((sum, one) => sum + one.seconds, 0);
  if (!wanted && !stopping.signal.aborted)
    writeTable('last run', table, [`- duration: ${Math.round(seconds / 60)} min`, `- seed: ${seed}`]);
  return done.length > 0 && done.every(({ result }) => result !== 'failed' && result !== 'stopped');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit((await main()) ? 0 : 1);
