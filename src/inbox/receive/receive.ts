/**
 * Takes a webhook in: durable before it is answered. Requests that arrive while a commit is under way join the next
 * one, so that one flush to disk serves them all. The same bytes again are a repeat: told so, recorded as an arrival,
 * and a hint to look again. What can't be read is kept too, once, for quarantine. While the database is away or too
 * slow, the spool takes its place.
 */
import { hash } from 'node:crypto';
import type { Context } from '../../context.ts';
import { ConfereError } from '../../domain/errors.ts';
import { webhookIdOf } from '../../domain/webhook-id.ts';
import { describeError } from '../../log.ts';
import { lastWebhookSeconds, spoolBytes, webhookCommitSeconds, webhooksSpooled } from '../../metrics/metrics.ts';
import { createBatcher } from '../../runtime/batch.ts';
import { SPOOL_BYTES_MAX, type Spool } from '../spool/spool.ts';
import { type BodyDefect, checkBody } from './check-body.ts';
import type { Arrival, ArrivalOutcome } from './insert-arrivals.ts';
import { createGarbageQuota, createHitCheck, LARGE_BODY_BYTES } from './limit-garbage.ts';
import { createQuarantineMeter } from './measure-quarantine.ts';
import { nameSender } from './name-sender.ts';
import { namesTransaction } from './parse-items.ts';
import { truncateAddress } from './truncate-address.ts';
import { COMMIT_TIMEOUT_MS, roundDownRows, writeArrivals } from './write-arrivals.ts';

const BATCH_ROWS_MAX = 512;
const BATCH_BYTES_MAX = 8 * 1024 * 1024;
/** Commits run beside each other: while one waits for the disk the others are filled, */
const COMMITS_IN_FLIGHT_MAX = 3;
/** … each once half as many wait as are under way: a flush costs the same for one row as for many. */
const COMMIT_BESIDE_SHARE = 0.5;
/** Beyond so many, or so much, that wait for a commit, a webhook is refused: memory is no place to keep them. */
const WAITING_MAX = 8_192;
const WAITING_BYTES_MAX = 128 * 1024 * 1024;
/** Of the spool: beyond it, what names no transaction is refused. */
const SPOOL_GARBAGE_SHARE = 0.5;

export type Received = { id: string; duplicate: boolean; defect: BodyDefect | undefined };
export type Receiver = (arrival: Pick<Arrival, 'body' | 'address' | 'headers'>) => Promise<Received>;

/**
 * A webhook was refused, and nothing of it is stored. It names no transaction, and the quarantine is full or its sender's
 * hourly quota is spent; or it is large, its sender never had a hit, and that quota is spent.
 */
export class GarbageRefusedError extends ConfereError {
  readonly reason: 'quarantine_full' | 'sender_over_quota' | 'large_over_quota';

  constructor(reason: GarbageRefusedError['reason']) {
    super('unavailable', `a webhook was refused before it was stored (${reason})`);
    this.reason = reason;
  }
}

/** @returns a function that resolves once its webhook is durable, and rejects when it could not be kept. */
export function createReceiver(context: Context, spool: Spool | undefined): Receiver {
  const keep = createBatcher<Arrival, ArrivalOutcome>({
    itemsMax: BATCH_ROWS_MAX,
    bytesMax: BATCH_BYTES_MAX,
    sizeOf: (item) => item.body.length,
    work: (items) => keepBatch(context, spool, items),
    inFlightMax: COMMITS_IN_FLIGHT_MAX,
    parallelStartShare: COMMIT_BESIDE_SHARE,
    waitingMax: WAITING_MAX,
    waitingBytesMax: WAITING_BYTES_MAX,
    roundDown: roundDownRows,
  });
  const quarantine = createQuarantineMeter(context);
  const quota = createGarbageQuota(context.config.QUARANTINE_MAX_BYTES, context);
  const mayHaveHit = createHitCheck(context);

  return async ({ body, address, headers }) => {
    const isFull = quarantine.isFull();
    const { defect: fault, value } = checkBody(body);
    const isGarbage = fault !== undefined || !namesTransaction(value);
    if (isGarbage) {
      const hasRoom = !isFull && !(spool?.isDatabaseDown && isHalfFull(spool));
      if (!hasRoom) throw new GarbageRefusedError('quarantine_full');
      if (!(await quota.take(nameSender(address), body.length))) throw new GarbageRefusedError('sender_over_quota');
    } else if (body.length > LARGE_BODY_BYTES && !spool?.isDatabaseDown) {
      const sender = nameSender(address);
      const isTaken = (await mayHaveHit(sender)) || (await quota.take(sender, body.length));
      if (!isTaken) throw new GarbageRefusedError('large_over_quota');
    }
    const digest = hash('sha256', body, 'buffer');
    const beganMs = performance.now();
    const { duplicate, refused } = await keep({
      ...{ hash: digest, body, address: truncateAddress(address), headers, defect: fault },
      receivedAt: context.clock.now(),
    });
    if (refused) throw refused;
    webhookCommitSeconds.observe((performance.now() - beganMs) / 1000);
    if (isGarbage && !duplicate) quarantine.add(body.length);
    return { id: webhookIdOf(digest), duplicate, defect: fault };
  };
}

/** Takes webhooks into the spool alone, before the database was ever reached; whoever drains it writes them down. */
export function createSpoolReceiver(spool: Spool, quarantineBytesMax: number): Receiver {
  const quota = createGarbageQuota(quarantineBytesMax, undefined);
  return async ({ body, address, headers }) => {
    const { defect: fault, value } = checkBody(body);
    if (fault !== undefined || !namesTransaction(value)) {
      if (isHalfFull(spool)) throw new GarbageRefusedError('quarantine_full');
      if (!(await quota.take(nameSender(address), body.length))) throw new GarbageRefusedError('sender_over_quota');
    }
    const digest = hash('sha256', body, 'buffer');
    const arrival = {
      hash: digest,
      body,
      address: truncateAddress(address),
      headers,
      defect: fault,
      receivedAt: new Date(),
    };
    const [kept] = await spoolBatch(spool, [arrival]);
    lastWebhookSeconds.setToCurrentTime();
    return { id: webhookIdOf(digest), duplicate: kept?.duplicate ?? false, defect: fault };
  };
}

/** The other half is left to what names a transaction. */
function isHalfFull(spool: Spool): boolean {
  return spool.bytes >= SPOOL_BYTES_MAX * SPOOL_GARBAGE_SHARE;
}

/**
 * Commits a batch; where that fails or takes too long, the spool takes it, and all that follows until whoever drains
 * the spool has written to the database again: no webhook waits to find out. Kept twice is kept once, by hash and instant.
 */
async function keepBatch(context: Context, spool: Spool | undefined, batch: Arrival[]): Promise<ArrivalOutcome[]> {
  const kept = (await commit(context, spool, batch)) ?? (await spoolBatch(spool as Spool, batch));
  lastWebhookSeconds.setToCurrentTime();
  context.wakeUps.inbox.notify();
  return kept;
}

/** @returns undefined where the spool has to take it. */
async function commit(
  context: Context,
  spool: Spool | undefined,
  batch: Arrival[],
): Promise<ArrivalOutcome[] | undefined> {
  if (spool?.isDatabaseDown) return undefined;
  try {
    return await within(COMMIT_TIMEOUT_MS, (givenUp) => writeArrivals(context, batch, givenUp));
  } catch (error) {
    if (!spool) throw error;
    spool.isDatabaseDown = true;
    context.log.warn({ error: describeError(error) }, 'the database took no webhooks: they go to the spool');
    return undefined;
  }
}

async function spoolBatch(spool: Spool, batch: Arrival[]): Promise<ArrivalOutcome[]> {
  const repeats = await Promise.all(batch.map((arrival) => spool.append(arrival)));
  webhooksSpooled.inc(batch.length);
  spoolBytes.set(spool.bytes);
  return repeats.map((duplicate) => ({ duplicate }));
}

/** What is still under way after so long is given up, and told so: by then it is refused, or the spool's. */
function within<T>(ms: number, work: (givenUp: AbortSignal) => Promise<T>): Promise<T> {
  const givenUp = new AbortController();
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      const error = new Error(`the commit took longer than ${ms} ms`);
      reject(error);
      givenUp.abort(error);
    }, ms);
    work(givenUp.signal)
      .then(resolve, reject)
      .finally(() => clearTimeout(late));
  });
}
