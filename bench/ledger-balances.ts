import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Kysely, sql } from 'kysely';
import { readConfig } from '../src/config.ts';
import { type Context, openContext } from '../src/context.ts';
import type { Database } from '../src/database/tables.ts';
import { createLog } from '../src/log.ts';
import { type AsOf, readBalances } from '../src/seal/read-balances.ts';
import type { Figure } from './figure.ts';

const ENTRIES = Number(process.env.BALANCE_ENTRIES ?? 5_000_000);
const PLATFORMS = 4;
const ACCOUNTS = 2 * PLATFORMS;
/** 100 days of 50,000 entries. */
const DAYS = 100;
const PER_SEAL = 2_000;
const TRIES = 40;
const BALANCE_MS = 20;
const STEP_MS = (DAYS * 86_400_000) / ENTRIES;

/** The balance at an instant over five million entries, loaded by SQL in the form that the program writes. */
export async function run(): Promise<Figure[]> {
  const home = mkdtempSync(path.join(tmpdir(), 'confere-bench-'));
  const config = readConfig({ DATA_DIR: home, SECRET_KEY: Buffer.alloc(32, 7).toString('base64') });
  const log = createLog('silent', process.stderr);
  const context = await openContext(config, { log, signal: new AbortController().signal, migrates: true });
  try {
    await load(context.db);
    const now = await measure(context, () => 'now');
    const recent = await measure(context, (n) => ({ position: Math.round(ENTRIES / PER_SEAL) - (n % 20) }), 5);
    const middle = await measure(context, () => ({ position: Math.round(ENTRIES / PER_SEAL / 2) }), 1);
    return [
      {
        figure: `balance at an instant over ${ENTRIES.toLocaleString('en')} entries`,
        value: `${now.p50.toFixed(1)} ms p50, ${now.worst.toFixed(1)} ms at worst`,
        target: `≤ ${BALANCE_MS} ms`,
        ok: now.p50 <= BALANCE_MS,
      },
      {
        figure: 'the same, as known at one of the newest positions; at the middle of the chain',
        value: `${recent.p50.toFixed(0)} ms; ${middle.p50.toFixed(0)} ms`,
        target: 'none',
        ok: true,
      },
    ];
  } finally {
    await context[Symbol.asyncDispose]();
    rmSync(home, { recursive: true, force: true });
  }
}

async function measure(context: Context, known: (n: number) => AsOf, tries = TRIES) {
  const took: number[] = [];
  for (let n = 0; n < tries; n++) {
    // a random second of the hundred days
    const ms = Date.UTC(2026, 0, 1) + ((n * 2_654_435_761) % (DAYS * 86_400)) * 1000;
    const at = new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
    const began = performance.now();
    await readBalances(context.db, at, known(n), context.clock.now());
    took.push(performance.now() - began);
  }
  took.sort((a, b) => a - b);
  return { p50: took[tries >> 1] ?? 0, worst: took.at(-1) ?? 0 };
}

/** Two postings per entry, ordered by time, without the indexes that no balance uses. MariaDB only. */
async function load(db: Kysely<Database>): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(db);
  await run('SET GLOBAL innodb_flush_log_at_trx_commit = 0');
  await run('ALTER TABLE entries DROP KEY entries_reverses, DROP KEY entries_transaction, DROP KEY entries_at');
  await run('ALTER TABLE postings DROP KEY postings_account');
  await run(`INSERT INTO accounts (seq, name) SELECT seq, CONCAT('Assets:Account', seq) FROM seq_1_to_${ACCOUNTS}`);
  const at = (number: string) =>
    `DATE_FORMAT('2026-01-01' + INTERVAL FLOOR(${number} * ${STEP_MS} / 1000) SECOND, '%Y-%m-%d %H:%i:%s')`;
  await run(`INSERT INTO entries (seq, kind, platform, at_wall, recorded_at, source_kind)
    SELECT seq, 'event', 'p', ${at('seq')}, '2026-01-01' + INTERVAL FLOOR(seq * ${STEP_MS} / 1000) SECOND, 'list'
    FROM seq_1_to_${ENTRIES}`);
  await run(`INSERT INTO postings (entry_seq, position, account_seq, at_wall, amount_cents)
    SELECT e.seq, p.seq - 1, 1 + (e.seq % ${PLATFORMS}) * 2 + (p.seq - 1), e.at_wall,
      IF(p.seq = 1, 1, -1) * (100 + e.seq % 99991) FROM entries e JOIN seq_1_to_2 p`);
  process.stderr.write('rows loaded, indexing …\n');
  await run('ALTER TABLE postings ADD KEY postings_account (account_seq, at_wall, amount_cents)');
  for (const [grain, chars] of Object.entries({ month: 7, day: 10, hour: 13 })) {
    await run(`INSERT INTO balance_spans SELECT '${grain}', LEFT(at_wall, ${chars}) AS span, account_seq,
      SUM(amount_cents) FROM postings GROUP BY span, account_seq`);
  }
  await run(`INSERT INTO seals (position, entry_seq, event_seq, mismatch_change_seq, members, entries,
    stragglers, previous_hash, hash, sealed_at) SELECT seq, seq * ${PER_SEAL}, 0, 0,
    CONCAT((seq - 1) * ${PER_SEAL} + 1, '-', seq * ${PER_SEAL}), ${PER_SEAL}, 0, REPEAT('x', 32), REPEAT('x', 32),
    UTC_TIMESTAMP(3) - INTERVAL (${Math.round(ENTRIES / PER_SEAL)} - seq) MINUTE
    FROM seq_1_to_${Math.round(ENTRIES / PER_SEAL)}`);
}
