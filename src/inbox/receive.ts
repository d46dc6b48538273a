/**
 * Takes a webhook in: durable before it is answered. Requests that arrive while a commit is under way join the next
 * one, so that one flush to disk serves them all. The same bytes again are a repeat: told so, recorded as an arrival,
 * and a hint to look again. What can't be read is kept too, once, for quarantine.
 */
import { createHash } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import type { Context } from '../context.ts';
import { createCoalescer } from '../database/coalesce.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { webhookIdOf } from '../domain/webhook-id.ts';
import { lastWebhookSeconds, webhookCommitSeconds } from '../metrics/metrics.ts';
import { type BodyFault, checkBody } from './check-body.ts';

const BATCH_ROWS_MAX = 512;
const BATCH_BYTES_MAX = 8 * 1024 * 1024;
/** A second commit runs beside the first: while one waits for the disk the other is filled. */
const COMMITS_IN_FLIGHT_MAX = 2;
export const RELOOK_AFTER_MS = 10_000;

export type Arrival = { body: Buffer; address: string; headers: Record<string, string> };
export type Received = { id: string; duplicate: boolean; fault: BodyFault | undefined };
export type Receiver = (arrival: Arrival) => Promise<Received>;

type Kept = Arrival & { hash: Buffer; fault: BodyFault | undefined; receivedAt: Date };

/** @returns a function that resolves once its webhook is committed, and rejects when it could not be kept. */
export function createReceiver(context: Context): Receiver {
  const commit = createCoalescer<Kept, boolean>({
    itemsMax: BATCH_ROWS_MAX,
    bytesMax: BATCH_BYTES_MAX,
    sizeOf: (item) => item.body.length,
    work: (items) => commitArrivals(context, items),
    inFlightMax: COMMITS_IN_FLIGHT_MAX,
  });
  return async (arrival) => {
    const hash = createHash('sha256').update(arrival.body).digest();
    const { fault } = checkBody(arrival.body);
    const done = webhookCommitSeconds.startTimer();
    const duplicate = await commit({ ...arrival, hash, fault, receivedAt: context.clock.now() });
    done();
    lastWebhookSeconds.setToCurrentTime();
    context.bells.inbox.ring();
    return { id: webhookIdOf(hash), duplicate, fault };
  };
}

/** Commits a batch. @returns for each arrival whether the same bytes had come before. */
async function commitArrivals(context: Context, arrivals: Kept[]): Promise<boolean[]> {
  return await transact(context.db, (trx) => writeArrivals(trx, arrivals), { retryDuplicates: true });
}

async function writeArrivals(trx: Transaction<Database>, arrivals: Kept[]): Promise<boolean[]> {
  const firsts = new Map<string, Kept>();
  const key = (one: Kept): string => one.hash.toString('base64');
  for (const one of arrivals) if (!firsts.has(key(one))) firsts.set(key(one), one);
  const known = await findSeqs(trx, [...firsts.values()]);
  const fresh = [...firsts].filter(([hash]) => !known.has(hash)).map(([, one]) => one);
  if (fresh.length > 0) await insertWebhooks(trx, fresh);
  const repeats = arrivals.filter((one) => known.has(key(one)) || firsts.get(key(one)) !== one);
  if (repeats.length > 0) {
    const seqs = await findSeqs(trx, repeats);
    await recordRepeats(
      trx,
      repeats.map((one) => ({ ...one, seq: seqs.get(key(one)) ?? 0 })),
    );
  }
  const repeated = new Set(repeats);
  return arrivals.map((one) => repeated.has(one));
}

async function findSeqs(trx: Transaction<Database>, arrivals: Kept[]): Promise<Map<string, number>> {
  const rows = await trx
    .selectFrom('webhooks')
    .select(['seq', 'hash'])
    .where(
      'hash',
      'in',
      arrivals.map((one) => one.hash),
    )
    .execute();
  return new Map(rows.map((row) => [row.hash.toString('base64'), row.seq]));
}

async function insertWebhooks(trx: Transaction<Database>, fresh: Kept[]): Promise<void> {
  await trx
    .insertInto('webhooks')
    .values(
      fresh.map((one) => ({
        hash: one.hash,
        body: one.body,
        received_at: one.receivedAt,
        source_address: one.address,
        headers: JSON.stringify(one.headers),
        state: 'received',
        reason: one.fault ?? null,
      })),
    )
    .execute();
}

async function recordRepeats(trx: Transaction<Database>, repeats: (Kept & { seq: number })[]): Promise<void> {
  await trx
    .insertInto('webhook_repeats')
    .values(repeats.map((one) => ({ webhook_seq: one.seq, received_at: one.receivedAt, source_address: one.address })))
    .execute();
  const counts = Map.groupBy(repeats, (one) => one.seq);
  for (const [seq, ones] of [...counts].sort(([a], [b]) => a - b)) {
    await trx
      .updateTable('webhooks')
      .set({ repeats: sql`repeats + ${ones.length}` })
      .where('seq', '=', seq)
      .execute();
  }
  // a repeat is still a hint: what it names is looked at again, at most once in RELOOK_AFTER_MS
  await trx
    .updateTable('webhook_items')
    .set({
      state: 'pending',
      next_look_at: sql`GREATEST(UTC_TIMESTAMP(3), COALESCE(looked_at, '2000-01-01') + INTERVAL ${sql.lit(RELOOK_AFTER_MS / 1000)} SECOND)`,
    })
    .where('webhook_seq', 'in', [...counts.keys()])
    .where('state', '=', 'applied')
    .execute();
}
