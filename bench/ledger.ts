import { tracingChannel } from 'node:diagnostics_channel';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { readServerRecord } from '../embedded/find-running-server.ts';
import { readConfig } from '../src/config.ts';
import { type Context, openContext } from '../src/context.ts';
import type { Source } from '../src/domain/observation.ts';
import { applyObservations } from '../src/ledger/apply/apply-observations.ts';
import { createLog } from '../src/log.ts';
import { createMerchant } from '../src/merchants/change-merchants.ts';
import { parseTransaction } from '../src/provider/parse-transaction.ts';
import { type Figure, QUICK } from './figure.ts';
import { insertPlainly } from './insert-plainly.ts';

/** Enough to exclude the first, slow second of the process. */
const PAGES = QUICK ? 100 : 400;
const ROWS_PER_PAGE = 100;
const IN_FLIGHT = 4;
const COLD_MIN = 5_000;
/** Against the same rows inserted without logic. */
const COLD_RATIO_MIN = 0.35;
const REREAD_MIN = 50_000;
const REREAD_RATIO_MIN = 0.7;
const SINGLES = QUICK ? 100 : 400;
const SINGLE_MS_MAX = 3;

export const quick = true;

/** Loads, re-reads and single changes, on an embedded database that flushes at every commit, with one merchant. */
export async function run(): Promise<Figure[]> {
  const home = mkdtempSync(path.join(tmpdir(), 'confere-bench-'));
  const config = readConfig({ DATA_DIR: home, SECRET_KEY: Buffer.alloc(32, 7).toString('base64') });
  const log = createLog('silent', process.stderr);
  const context = await openContext(config, { log, signal: new AbortController().signal, migrates: true });
  try {
    await createMerchant(context, { name: 'shop', url: 'https://shop.example/hook', eventsSince: new Date(0) });
    const pages = Array.from({ length: PAGES }, (_, page) => writePage(page));
    const cold = await rate(() => readPages(pages, (page) => applyPage(context, page)));
    const parse = await rate(() => readPages(pages, async (page) => void parsePage(page)));
    const reread = await rate(() => readPages(pages, (page) => applyPage(context, page)));
    const size = { pages: PAGES, inFlight: IN_FLIGHT, rows: PAGES * ROWS_PER_PAGE };
    const { socketPath = '' } = readServerRecord(path.join(home, 'mariadb')) ?? {};
    const { rows: named } = await sql<{ name: string }>`SELECT DATABASE() AS name`.execute(context.db);
    const plain = await insertPlainly({ socketPath, database: named[0]?.name ?? '' }, size);
    const single = await measureSingles(context);
    return [
      figure('cold load, two events each, with entries, postings and callbacks', `${cold}/s`, COLD_MIN, cold),
      {
        figure: '… against multi-row inserts of the same rows without logic',
        value: `${(cold / plain).toFixed(2)} (${plain}/s)`,
        target: `≥ ${COLD_RATIO_MIN}`,
        ok: cold / plain >= COLD_RATIO_MIN,
      },
      figure('re-read of unchanged pages', `${reread}/s`, REREAD_MIN, reread),
      {
        figure: 're-read against parsing the same pages alone (no network in either)',
        value: (reread / parse).toFixed(2),
        target: `≥ ${REREAD_RATIO_MIN}`,
        ok: reread / parse >= REREAD_RATIO_MIN,
      },
      {
        figure: 'one change applied: time in the database, p50 (in all, with our own)',
        value: `${single.inDatabaseMs.toFixed(1)} ms (${single.inAllMs.toFixed(1)} ms)`,
        target: `≤ ${SINGLE_MS_MAX} ms`,
        ok: single.inDatabaseMs <= SINGLE_MS_MAX,
      },
    ];
  } finally {
    await context[Symbol.asyncDispose]();
    rmSync(home, { recursive: true, force: true });
  }
}

function figure(name: string, value: string, min: number, measured: number): Figure {
  return { figure: name, value, target: `≥ ${min}/s`, ok: measured >= min };
}

/** @returns transactions a second. */
async function rate(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return Math.round((PAGES * ROWS_PER_PAGE * 1000) / (performance.now() - began));
}

async function readPages(pages: string[], read: (page: string) => Promise<void>): Promise<void> {
  const waiting = [...pages];
  const readers = Array.from({ length: IN_FLIGHT }, async () => {
    for (let page = waiting.shift(); page !== undefined; page = waiting.shift()) await read(page);
  });
  await Promise.all(readers);
}

function parsePage(page: string) {
  return (JSON.parse(page) as { data: unknown[] }).data.map((row) => {
    const read = parseTransaction(row);
    if (!read.ok) throw new Error(read.reason);
    return read;
  });
}

async function applyPage(context: Context, page: string, source: Source = { kind: 'show' }): Promise<void> {
  const askedAt = context.clock.now();
  await applyObservations(
    context,
    parsePage(page).map(({ transaction, digest }) => ({ transaction, digest, askedAt, source })),
  );
}

/**
 * Time to apply one webhook's observation to the ledger, half of them of new transactions, half of a paid event that
 * follows; and the part of it that was spent in statements, COMMIT included.
 */
async function measureSingles(context: Context): Promise<{ inDatabaseMs: number; inAllMs: number }> {
  const took: { inDatabaseMs: number; inAllMs: number }[] = [];
  using statements = timeStatements();
  for (let number = 0; number < SINGLES; number++) {
    const row = writeRow(1_000_000 + (number >> 1), number % 2 === 0 ? 1 : 2);
    const page = JSON.stringify({ data: [row] });
    const [began, spent] = [performance.now(), statements.spentMs];
    await applyPage(context, page, { kind: 'webhook', webhook: { seq: number + 1, id: `wh_${number}` } });
    took.push({ inDatabaseMs: statements.spentMs - spent, inAllMs: performance.now() - began });
  }
  if (statements.spentMs === 0) throw new Error('mysql2 reported no statement: nothing was measured');
  const middle = (of: 'inDatabaseMs' | 'inAllMs') => took.map((one) => one[of]).sort((a, b) => a - b)[SINGLES / 2] ?? 0;
  return { inDatabaseMs: middle('inDatabaseMs'), inAllMs: middle('inAllMs') };
}

/** Sums the time of statements, as mysql2 reports it. */
function timeStatements() {
  const sentMs = new WeakMap<object, number>();
  const total = {
    spentMs: 0,
    [Symbol.dispose]: () => channel.unsubscribe(subscriber),
  };
  const subscriber = {
    start: (query: object) => void sentMs.set(query, performance.now()),
    asyncStart: (query: object) => {
      total.spentMs += performance.now() - (sentMs.get(query) ?? performance.now());
    },
    ...{ end: () => undefined, asyncEnd: () => undefined, error: () => undefined },
  };
  const channel = tracingChannel('mysql2:query');
  channel.subscribe(subscriber);
  return total;
}

function writePage(page: number): string {
  const rows = Array.from({ length: ROWS_PER_PAGE }, (_, index) => writeRow(page * ROWS_PER_PAGE + index, 2));
  return JSON.stringify({ data: rows });
}

function writeRow(number: number, events: number) {
  const at = (second: number) =>
    new Date(Date.UTC(2026, 10, 1) + (number * 20 + second) * 1000).toISOString().slice(0, 19).replace('T', ' ');
  const history = [
    { status: 'paid', date_created: at(9) },
    { status: 'pending', date_created: at(0) },
  ];
  const digits = String(number).padStart(12, '0');
  return {
    id: `0f0e0d0c-0000-4000-8000-${digits}`,
    operation: number % 3 === 0 ? 'cashout' : 'cashin',
    status: events === 2 ? 'paid' : 'pending',
    amount: `${10 + (number % 900)}.50`,
    commission: '0.35',
    reference: `pedido-${digits}`,
    extra: `loja-${number % 50}`,
    platform: `6f9619ff-8b86-4d01-b42d-00cf4fc964f${number % 4}`,
    e2e_id: `E12345678${at(9).replace(/\D/g, '').slice(0, 12)}${digits.slice(1)}`,
    name: 'Maria da Conceição',
    document: '12345678909',
    date_created: at(0),
    events: history.slice(2 - events),
  };
}
