/**
 * `npm run soak:callbacks`: SOAK_CALLBACKS (100,000) callbacks to 10 merchants at 500 per second. Every SOAK_BREAK_SECONDS (30)
 * it kills a worker with SIGKILL, kills the database server, or cuts every connection to the merchants, in turn. It passes if
 * each callback arrived, in order for its transaction, under one id, and fewer than 0.1 % arrived twice; else exit code 1.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Transaction } from 'kysely';
import type { CallbackCause } from '../src/callbacks/queue/callback-rows.ts';
import { enqueueCallbacks } from '../src/callbacks/queue/enqueue-callbacks.ts';
import { readRecipients } from '../src/callbacks/queue/read-recipients.ts';
import { readConfig } from '../src/config.ts';
import { type Context, openContext } from '../src/context.ts';
import type { Database } from '../src/database/tables.ts';
import { isTransient, transact } from '../src/database/transact.ts';
import { createLog } from '../src/log.ts';
import { createMerchant } from '../src/merchants/change-merchants.ts';

const CALLBACKS = Number(process.env.SOAK_CALLBACKS ?? 100_000);
const MERCHANTS = 10;
const HISTORY = ['pending', 'paid'] as const;
const PER_SECOND = 500;
const PAYMENTS_A_TURN = 5;
const WORKERS = 2;
const BREAK_EVERY_MS = Number(process.env.SOAK_BREAK_SECONDS ?? 30) * 1000;
const CUT_MS = 2_000;
/** Callbacks that a killed worker had claimed are due again after a minute. */
const SETTLE_MS_MAX = 5 * 60_000;
const REPEATS_MAX = 0.001;
const LOOK_MS = 500;
/** A callback that first arrived this near to a break may have been in flight or unrecorded at the break. */
const NEAR_MS = 5_000;
const CHILD = fileURLToPath(new URL('../test/service/callbacks/deliver-child.ts', import.meta.url));

type Arrival = { merchant: string; transaction: string; sequence: number; id: string; atMs: number };
type Break = { what: 'worker' | 'database' | 'network'; fromMs: number; toMs: number };

async function soak(): Promise<boolean> {
  await using stack = new AsyncDisposableStack();
  const home = mkdtempSync(path.join(tmpdir(), 'confere-soak-'));
  stack.defer(() => rmSync(home, { recursive: true, force: true }));
  const env = { DATA_DIR: home, CALLBACK_ALLOW_PRIVATE: 'true', CALLBACK_RETRY_SCHEDULE: '1s,2s,5s,10s,30s,1m' };
  const log = createLog('silent', process.stderr);
  const stop = new AbortController();
  const context = await openContext(readConfig(env), { log, signal: stop.signal, migrates: true });
  stack.use(context);
  const shop = stack.use(await openShop());
  const way = stack.use(await openWay(shop.port));
  for (let i = 0; i < MERCHANTS; i++) {
    const eventsSince = new Date('2020-01-01T00:00:00Z');
    await createMerchant(context, { name: `soak ${i}`, url: `http://127.0.0.1:${way.port}/${i}`, eventsSince });
  }
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => startWorker(env)));
  stack.defer(async () => {
    await Promise.all(workers.map(kill));
  });
  const paying = payAll(context);
  const breaks: Break[] = [];
  let done = false;
  void paying.finally(() => {
    done = true;
  });
  for (let turn = 0; !done; turn++) {
    await sleep(BREAK_EVERY_MS);
    if (done) break;
    const what = (['worker', 'network', 'database'] as const)[turn % 3] ?? 'worker';
    say(`${shop.arrivals.length} arrived; breaking the ${what}`);
    const fromMs = Date.now();
    if (what === 'worker') {
      const index = turn % WORKERS;
      const worker = workers[index];
      if (worker) await kill(worker);
      workers[index] = await startWorker(env);
    } else if (what === 'network') await way.cut(CUT_MS);
    else process.kill(Number(readFileSync(path.join(home, 'mariadb/server.pid'), 'utf8')), 'SIGKILL');
    breaks.push({ what, fromMs, toMs: Date.now() });
  }
  const made = await paying;
  say(`${made} made; waiting for the last`);
  await untilDelivered(context);
  return checkArrivals(made, shop.arrivals, breaks);
}

function checkArrivals(made: number, arrivals: Arrival[], breaks: Break[]): boolean {
  const byCallback = Map.groupBy(arrivals, (one) => `${one.merchant} ${one.transaction} ${one.sequence}`);
  const firsts = [...byCallback.values()].flatMap(([first]) => (first ? [first] : []));
  const byTransaction = Map.groupBy(firsts, (one) => `${one.merchant} ${one.transaction}`);
  const missing = made - byCallback.size;
  const twoIds = [...byCallback.values()].filter((list) => new Set(list.map((one) => one.id)).size > 1).length;
  const disorder = [...byTransaction.values()].filter((list) => list.some((one, i) => one.sequence !== i + 1)).length;
  const repeats = arrivals.length - byCallback.size;
  const causes = [...byCallback.values()].flatMap(([first, again]) => (first && again ? [causeOf(first, breaks)] : []));
  const calm = causes.filter((cause) => cause === 'calm').length;
  say(`breaks: ${countWords(breaks.map((one) => one.what))}`);
  say(`of ${made}: missing ${missing}, out of order ${disorder}, under two ids ${twoIds}`);
  say(`repeats ${repeats} (${((repeats * 100) / made).toFixed(3)} %): ${countWords(causes)}`);
  return missing + twoIds + disorder === 0 && repeats / made < REPEATS_MAX && calm === 0;
}

/** Returns what was broken when a callback first arrived, or `calm`. */
function causeOf({ atMs }: Arrival, breaks: Break[]): string {
  const near = breaks.findLast((one) => atMs > one.fromMs - NEAR_MS && atMs < one.toMs + NEAR_MS);
  return near?.what ?? 'calm';
}

function countWords(words: string[]): string {
  return [...Map.groupBy(words, (word) => word)].map(([word, list]) => `${list.length} × ${word}`).join(', ');
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

type Shop = AsyncDisposable & { port: number; arrivals: Arrival[] };

/** The merchants: they answer at once and store the arrivals. */
async function openShop(): Promise<Shop> {
  const arrivals: Arrival[] = [];
  const server = http.createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('error', () => undefined).on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { data } = JSON.parse(Buffer.concat(parts).toString()) as {
        data: { transaction: { id: string; sequence: number } };
      };
      const { id: transaction, sequence } = data.transaction;
      const id = String(request.headers['webhook-id']);
      arrivals.push({ merchant: request.url ?? '', transaction, sequence, id, atMs: Date.now() });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    arrivals,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A proxy to the merchants that can cut every connection and refuse new ones for a while. */
async function openWay(to: number): Promise<AsyncDisposable & { port: number; cut(ms: number): Promise<void> }> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = net.createServer((socket) => {
    if (isCut) return void socket.destroy();
    const onward = net.connect(to, '127.0.0.1');
    for (const end of [socket, onward]) {
      sockets.add(end);
      end.on('error', () => undefined);
      end.on('close', () => {
        sockets.delete(end);
        socket.destroy();
        onward.destroy();
      });
    }
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    async cut(ms) {
      isCut = true;
      cutAll();
      await sleep(ms);
      isCut = false;
    },
    async [Symbol.asyncDispose]() {
      cutAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function startWorker(env: Record<string, string>): Promise<ChildProcess> {
  const child = fork(CHILD, { env: { ...process.env, ...env } });
  await once(child, 'message');
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  if (child.kill('SIGKILL')) await gone;
}

/** Makes payments at a steady rate. Payments that fail while the database is away are written afterwards. */
async function payAll(context: Context): Promise<number> {
  const startedMs = performance.now();
  const perTurn = PAYMENTS_A_TURN * HISTORY.length * MERCHANTS;
  let made = 0;
  for (; made < CALLBACKS; made += perTurn) {
    const ids = Array.from({ length: PAYMENTS_A_TURN }, () => randomUUID());
    while (!(await paid(context, ids))) await sleep(LOOK_MS);
    await sleep(Math.max(0, startedMs + ((made + perTurn) * 1000) / PER_SECOND - performance.now()));
  }
  return made;
}

/** @returns false while the database is away. */
async function paid(context: Context, ids: string[]): Promise<boolean> {
  try {
    await transact(context.db, (trx) => pay(context, trx, ids));
    return true;
  } catch (error) {
    const { code } = error as { code?: string };
    if (isTransient(error) || code === 'ECONNREFUSED' || code === 'ENOENT') return false;
    throw error;
  }
}

/** Applies payments and their history with their callbacks; the same ids again change nothing. */
async function pay(context: Context, trx: Transaction<Database>, ids: string[]): Promise<void> {
  const now = context.clock.now();
  const wall = context.calendar.toWallTime(now);
  const known = await trx.selectFrom('transactions').select('id').where('id', 'in', ids).execute();
  if (known.length > 0) return;
  const state = { operation: 'cashin', status: 'paid', status_wall: wall, sequence: 2, event_count: 2 };
  const facts = { amount_cents: 12_345n, commission_cents: 99n, created_wall: wall, asked_at: now, first_seen_at: now };
  await trx
    .insertInto('transactions')
    .values(ids.map((id) => ({ id, ...state, ...facts, digest: randomBytes(32) })))
    .execute();
  const rows = await trx.selectFrom('transactions').select(['seq', 'id']).where('id', 'in', ids).execute();
  const history = rows.flatMap(({ seq }) =>
    HISTORY.map((status, position) => ({
      ...{ transaction_seq: seq, status, at_wall: wall, occurrence: 0, position, sequence: position + 1 },
      ...{ inferred: 0, seen_at: now, source_kind: 'show' },
    })),
  );
  await trx.insertInto('events').values(history).execute();
  const events = await trx
    .selectFrom('events')
    .innerJoin('transactions', 'transactions.seq', 'events.transaction_seq')
    .select(['events.seq', 'events.transaction_seq', 'events.status', 'events.sequence', 'transactions.id'])
    .where('transactions.id', 'in', ids)
    .orderBy('events.transaction_seq')
    .orderBy('events.sequence')
    .execute();
  const causes = events.map(
    (event): CallbackCause => ({
      transaction: {
        ...{ seq: event.transaction_seq, id: event.id, operation: 'cashin' },
        ...{ reference: null, extra: null, platform: null },
      },
      event: {
        ...{ seq: event.seq, status: event.status, sequence: event.sequence, at: now, atWall: wall },
        ...{ occurrence: 0, number: null },
      },
      previousStatus: event.sequence === 1 ? null : 'pending',
      source: 'webhook',
    }),
  );
  await enqueueCallbacks(context, trx, { causes, recipients: await readRecipients(trx) });
}

async function untilDelivered(context: Context): Promise<void> {
  for (const endMs = Date.now() + SETTLE_MS_MAX; Date.now() < endMs; await sleep(LOOK_MS)) {
    const open = await context.db
      .selectFrom('callbacks')
      .select('seq')
      .where('state', '<>', 'delivered')
      .limit(1)
      .execute()
      .catch(() => undefined);
    if (open?.length === 0) return;
  }
  say('some callbacks are not delivered yet');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit((await soak()) ? 0 : 1);
