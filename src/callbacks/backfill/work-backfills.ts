/**
 * Enqueues callbacks of events that the ledger knew before a merchant was added, or before its `events_since` moved back
 * or its filter widened; then those of expected payments, if its filter asks for them.
 *
 * A backfill is `waiting` until every writer that began before it has committed: such a writer did not know of the
 * merchant's change. It is `running` while it reads the events in the order of their times, a page in each database
 * transaction: until then, the ledger's writer puts what a merchant lacks of a transaction before a new event of it
 * (`../queue/enqueue-callbacks.ts`). Then it is `done`, and a callback that finds an older one of its transaction waiting
 * for an idle moment makes it due (`../queue/split-by-order.ts`). So a new event overtakes no older one, and waits for no
 * other transaction.
 *
 * The row lock of a backfill keeps two processes from one page; the cursor moves with the page's callbacks, so a killed
 * process loses and repeats nothing. Callbacks have the lowest priority of their merchant, and only as many are enqueued
 * as it takes in about a minute.
 */
import { sql, type Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { waitForInserted } from '../../database/wait-for-writers.ts';
import { describeError } from '../../log.ts';
import { asksForExpected } from '../../merchants/match-filter.ts';
import { createWakeSignal, runWorkerLoop } from '../../runtime/wake-signal.ts';
import { enqueueMissingExpected } from '../expected/enqueue-expected.ts';
import { WHEN_IDLE } from '../health/when-idle.ts';
import type { Recipient } from '../queue/callback-rows.ts';
import { enqueueMissing } from '../queue/enqueue-callbacks.ts';
import { readRecipients } from '../queue/read-recipients.ts';
import { readExpectedPage, readPage } from './read-page.ts';

const IDLE_MS = 500;
/** Between two pages: the database has other work. */
const PAUSE_MS = 20;
const BACKFILLS_MAX = 100;
/** Callbacks of a backfill that may wait at once, and for how many seconds of a merchant's rate. */
const WAITING_MAX = 1_000;
const WAITING_S_MAX = 60;
/** State that 0.2.0 gives a backfill whose callbacks are all enqueued. */
const PREVIOUS = 'sending';

export type BackfillOptions = {
  /** Called once the past events of a merchant are enqueued; not again, if it fails. */
  onDone?: (merchantSeq: number) => Promise<unknown>;
};

/** Works on backfills until the context's signal. */
export async function workBackfills(context: Context, options: BackfillOptions = {}): Promise<void> {
  await runWorkerLoop({
    name: 'backfills',
    work: () => runRound(context, options),
    wakeUp: createWakeSignal(context.timers),
    idleMs: IDLE_MS,
    hasWork: () => context.poll(() => [selectOpen(context).select('merchant_seq')]),
    context,
  });
}

type Open = { merchant_seq: number; state: string; started_at: Date };

/** One page of each open backfill. @returns whether any of them went on. */
async function runRound(context: Context, options: BackfillOptions): Promise<boolean> {
  const open: Open[] = await selectOpen(context)
    .select(['merchant_seq', 'backfills.state', 'started_at'])
    .orderBy('updated_at')
    .limit(BACKFILLS_MAX)
    .execute();
  let went = false;
  for (const one of open) {
    if (context.signal.aborted) return false;
    went = (await goOn(context, one, options)) || went;
  }
  if (went) await context.timers.sleep(PAUSE_MS, { signal: context.signal }).catch(() => undefined);
  return went;
}

function selectOpen({ db }: Context) {
  return db
    .selectFrom('backfills')
    .innerJoin('merchants', 'merchants.seq', 'backfills.merchant_seq')
    .where('backfills.state', 'in', ['waiting', 'running', PREVIOUS])
    .where('deleted_at', 'is', null);
}

async function goOn(context: Context, one: Open, { onDone }: BackfillOptions): Promise<boolean> {
  if (one.state === 'running') {
    const result = await enqueuePage(context, one.merchant_seq);
    if (result?.isDone) await reportDone(context, one.merchant_seq, onDone);
    return result !== undefined;
  }
  if (one.state === PREVIOUS) return await setState(context, one, 'done');
  await waitForInserted(context.db, 'events');
  await waitForInserted(context.db, 'corrections');
  await waitForInserted(context.db, 'expected_changes');
  return await setState(context, one, 'running');
}

/** Does nothing if the backfill was started anew meanwhile. */
async function setState(context: Context, one: Open, state: 'running' | 'done'): Promise<boolean> {
  const now = context.clock.now();
  const { numUpdatedRows } = await context.db
    .updateTable('backfills')
    .set({ state, updated_at: now, ...(state === 'done' ? { finished_at: now } : {}) })
    .where('merchant_seq', '=', one.merchant_seq)
    .where('state', '=', one.state)
    .where('started_at', '=', one.started_at)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

async function reportDone(context: Context, merchantSeq: number, onDone: BackfillOptions['onDone']): Promise<void> {
  try {
    await onDone?.(merchantSeq);
  } catch (error) {
    const merchant = `merchant ${merchantSeq}`;
    context.log.error({ error: describeError(error), merchant }, 'a backfill ended, and what follows it failed');
  }
}

/** @returns undefined: it cannot go on now. */
async function enqueuePage(context: Context, merchantSeq: number): Promise<{ isDone: boolean } | undefined> {
  const result = await transact(context.db, async (trx) => {
    const row = await trx
      .selectFrom('backfills')
      .selectAll()
      .where('merchant_seq', '=', merchantSeq)
      .where('state', '=', 'running')
      .forUpdate()
      .skipLocked()
      .executeTakeFirst();
    const [recipient] = await readRecipients(trx, merchantSeq);
    if (!row || !recipient || !(await mayEnqueue(trx, recipient))) return undefined;
    const cursor = { wall: row.cursor_wall, seq: row.cursor_seq };
    const { transactionSeqs, next } = await readPage(context, trx, row.events_since, cursor);
    const isAsking = !next && asksForExpected(recipient.filters);
    const orders = isAsking ? await readExpectedPage(trx, row.events_since, row.expected_seq) : undefined;
    const enqueued =
      (await enqueueMissing(context, trx, recipient, transactionSeqs)) +
      (await enqueueMissingExpected(context, trx, recipient, orders?.expectedSeqs ?? []));
    const now = context.clock.now();
    const end = orders ? { expected_seq: orders.last } : { state: 'done', finished_at: now };
    const set = {
      ...(next ? { cursor_wall: next.wall, cursor_seq: next.seq } : end),
      transactions: row.transactions + transactionSeqs.length,
      enqueued: row.enqueued + enqueued,
      updated_at: now,
    };
    await trx.updateTable('backfills').set(set).where('merchant_seq', '=', merchantSeq).execute();
    return { enqueued, isDone: !next && !orders };
  });
  if (result && result.enqueued > 0) context.wakeUps.callbacks.notify();
  return result;
}

/** Whether a merchant takes callbacks, and has tried most of those that were enqueued before. */
async function mayEnqueue(trx: Transaction<Database>, { seq, holds, pulls }: Recipient): Promise<boolean> {
  if (pulls) return true;
  if (holds) return false;
  const { rows } = await sql<{ failing_since: Date | null; rate: number | null; held: number | null; waiting: number }>`
    SELECT failing_since, rate,
      (SELECT 1 FROM callbacks WHERE merchant_seq = ${seq} AND state = 'held' LIMIT 1) AS held,
      (SELECT COUNT(*) FROM (SELECT 1 FROM callbacks WHERE merchant_seq = ${seq} AND state = 'pending'
        AND next_attempt_at = ${WHEN_IDLE} LIMIT ${sql.lit(WAITING_MAX)}) AS idle) AS waiting
    FROM merchants WHERE seq = ${seq}`.execute(trx);
  const [row] = rows;
  if (!row || row.failing_since !== null || row.held !== null) return false;
  return Number(row.waiting) < Math.min(WAITING_MAX, (row.rate ?? WAITING_MAX) * WAITING_S_MAX);
}
