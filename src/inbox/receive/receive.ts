/**
 * Receives a webhook: it is durable before it is answered. Requests that arrive during a commit join the next one, so
 * that one flush to disk serves them all. The same bytes again are a repeat: answered as a duplicate, recorded as an
 * arrival, and a reason to fetch again. An unreadable body is stored once and quarantined. While the database is
 * unavailable or too slow, webhooks go to the spool.
 */
import { hash } from 'node:crypto';
import type { Context } from '../../context.ts';
import { ConfereError } from '../../domain/errors.ts';
import { webhookIdOf } from '../../domain/ids.ts';
import { describeError } from '../../log.ts';
import { spoolBytes, webhookCommitSeconds, webhooksSpooled } from '../../metrics/metrics.ts';
import { createBatcher } from '../../runtime/batch.ts';
import { takeTurn } from '../../runtime/take-turns.ts';
import { withTimeLimit } from '../../runtime/time-limit.ts';
import { refusal } from '../../texts/refuse.ts';
import { inSpan } from '../../tracing/in-span.ts';
import { SPOOL_BYTES_MAX, type Spool } from '../spool/spool.ts';
import { type BodyDefect, checkBody } from './check-body.ts';
import type { Arrival, ArrivalOutcome } from './insert-arrivals.ts';
import { createGarbageQuota, createHitCheck, type GarbageQuota, LARGE_BODY_BYTES } from './limit-garbage.ts';
import { createQuarantineMeter } from './measure-quarantine.ts';
import { nameSender } from './name-sender.ts';
import { hasKey, parseItems, type WebhookItem } from './parse-items.ts';
import { COMMIT_TIMEOUT_MS, roundDownRows, writeArrivals } from './write-arrivals.ts';

const BATCH_ROWS_MAX = 512;
const BATCH_BYTES_MAX = 8 * 1024 * 1024;
/** Commits that run in parallel: while one waits for the disk, the next batches fill. */
const COMMITS_IN_FLIGHT_MAX = 3;
/** A further commit starts once half as many rows wait as are being committed: a flush costs the same for one row as for many. */
const PARALLEL_COMMIT_SHARE = 0.5;
/** Webhooks that may wait for a commit, in memory. Beyond it they are refused. */
const WAITING_MAX = 8_192;
const WAITING_BYTES_MAX = 128 * 1024 * 1024;
/** Share of the spool beyond which webhooks that name no transaction are refused. */
const SPOOL_GARBAGE_SHARE = 0.5;

/** Size of the address columns. */
const ADDRESS_BYTES_MAX = 64;
/** Most bytes of UTF-8 for one UTF-16 code unit. */
const CHAR_BYTES_MAX = 3;

const encoder = new TextEncoder();
const buffer = new Uint8Array(ADDRESS_BYTES_MAX);

export type Received = { id: string; duplicate: boolean; defect: BodyDefect | undefined };
type ReceivedRequest = Pick<Arrival, 'body' | 'address' | 'headers'>;
export type Receiver = (request: ReceivedRequest) => Promise<Received>;

/**
 * A webhook was refused, and nothing of it is stored. It names no transaction, and the quarantine is full or its sender's
 * hourly quota is spent; or it is large, WEBHOOK_AUTH is `none`, its sender has no hit on record, and that quota is spent.
 */
export class GarbageRefusedError extends ConfereError {
  constructor(reason: 'quarantine_full' | 'sender_over_quota' | 'large_over_quota') {
    super(...refusal(reason));
  }
}

/** @returns a function that resolves once its webhook is durable, and rejects if it could not be stored. */
export function createReceiver(context: Context, spool: Spool | undefined): Receiver {
  const store = createBatcher<Arrival, ArrivalOutcome>({
    itemsMax: BATCH_ROWS_MAX,
    bytesMax: BATCH_BYTES_MAX,
    sizeOf: (item) => item.body.length,
    work: (items) => storeBatch(context, spool, items),
    inFlightMax: COMMITS_IN_FLIGHT_MAX,
    parallelStartShare: PARALLEL_COMMIT_SHARE,
    waitingMax: WAITING_MAX,
    waitingBytesMax: WAITING_BYTES_MAX,
    roundDown: roundDownRows,
  });
  const quarantine = createQuarantineMeter(context);
  const quota = createGarbageQuota(context.config.QUARANTINE_MAX_BYTES, context);
  const mayHaveHit = createHitCheck(context);
  // a sender with credentials is never refused for a body that names a transaction
  const isOpen = context.config.WEBHOOK_AUTH.includes('none');

  return async (request) => {
    const { body, address } = request;
    if (body.length > LARGE_BODY_BYTES) await takeTurn();
    const isFull = quarantine.isFull();
    const inspected = inspectBody(body);
    const { defect, isGarbage } = inspected;
    if (isGarbage) {
      const hasRoom = !isFull && !(spool?.isDatabaseDown && isHalfFull(spool));
      await admitGarbage(quota, hasRoom, address, body.length);
    } else if (isOpen && body.length > LARGE_BODY_BYTES && !spool?.isDatabaseDown) {
      const sender = nameSender(address);
      const isAdmitted = (await mayHaveHit(sender)) || (await quota.take(sender, body.length));
      if (!isAdmitted) throw new GarbageRefusedError('large_over_quota');
    }
    const arrival = toArrival(request, inspected, context.clock.now());
    const beganMs = performance.now();
    const { duplicate, dataError } = await inSpan('webhook.commit', {}, () => store(arrival));
    if (dataError) throw dataError;
    webhookCommitSeconds.observe((performance.now() - beganMs) / 1000);
    if (isGarbage && !duplicate) quarantine.add(body.length);
    return { id: webhookIdOf(arrival.hash), duplicate, defect };
  };
}

/** @returns a receiver that only spools, for the time before the database is reached. The drain writes the inbox later. */
export function createSpoolReceiver(spool: Spool, quarantineBytesMax: number): Receiver {
  const quota = createGarbageQuota(quarantineBytesMax, undefined);
  return async (request) => {
    if (request.body.length > LARGE_BODY_BYTES) await takeTurn();
    const inspected = inspectBody(request.body);
    const { defect, isGarbage } = inspected;
    if (isGarbage) await admitGarbage(quota, !isHalfFull(spool), request.address, request.body.length);
    const arrival = toArrival(request, inspected, new Date());
    const [outcome] = await spoolBatch(spool, [arrival]);
    return { id: webhookIdOf(arrival.hash), duplicate: outcome?.duplicate ?? false, defect };
  };
}

type Inspected = { defect: BodyDefect | undefined; isGarbage: boolean; item: WebhookItem | undefined };

function inspectBody(body: Buffer): Inspected {
  const { defect, value } = checkBody(body);
  if (defect) return { defect, isGarbage: true, item: undefined };
  try {
    const items = parseItems(value);
    const [first] = items;
    const item = items.length === 1 && first && hasKey(first) ? first : undefined;
    return { defect, isGarbage: !items.some(hasKey), item };
  } catch {
    // it is stored all the same: the split fails on it in the same way, logs why and quarantines it
    return { defect, isGarbage: true, item: undefined };
  }
}

/** Hashes the body, so it is called only for admitted requests. */
function toArrival(
  { body, address, headers }: ReceivedRequest,
  { defect, item }: Inspected,
  receivedAt: Date,
): Arrival {
  const digest = hash('sha256', body, 'buffer');
  return { hash: digest, body, address: truncateAddress(address), headers, defect, receivedAt, item };
}

/** @throws GarbageRefusedError if there is no room, or the sender's quota is spent. */
async function admitGarbage(quota: GarbageQuota, hasRoom: boolean, address: string, bytes: number): Promise<void> {
  if (!hasRoom) throw new GarbageRefusedError('quarantine_full');
  if (!(await quota.take(nameSender(address), bytes))) throw new GarbageRefusedError('sender_over_quota');
}

/** The other half is reserved for webhooks that name a transaction. */
function isHalfFull(spool: Spool): boolean {
  return spool.bytes >= SPOOL_BYTES_MAX * SPOOL_GARBAGE_SHARE;
}

async function storeBatch(context: Context, spool: Spool | undefined, batch: Arrival[]): Promise<ArrivalOutcome[]> {
  const outcomes = spool ? await commitOrSpool(context, spool, batch) : await commit(context, batch);
  if (!outcomes.every(({ isHandedOver }) => isHandedOver)) context.wakeUps.inbox.notify();
  return outcomes;
}

/**
 * Commits a batch. If that fails or takes too long, the batch and all later ones go to the spool, until the drain has
 * written to the database again: no webhook waits for another attempt. A webhook in both counts once, by hash and instant.
 */
async function commitOrSpool(context: Context, spool: Spool, batch: Arrival[]): Promise<ArrivalOutcome[]> {
  if (spool.isDatabaseDown) return await spoolBatch(spool, batch);
  try {
    return await commit(context, batch);
  } catch (error) {
    spool.isDatabaseDown = true;
    context.log.warn({ error: describeError(error) }, 'webhook commit failed; spooling to disk');
    return await spoolBatch(spool, batch);
  }
}

async function commit(context: Context, batch: Arrival[]): Promise<ArrivalOutcome[]> {
  const late = (): ConfereError =>
    new ConfereError(
      'unavailable',
      `the commit of ${batch.length} webhooks took longer than ${COMMIT_TIMEOUT_MS} ms (${context.databaseName})`,
    );
  return await withTimeLimit(COMMIT_TIMEOUT_MS, (signal) => writeArrivals(context, batch, signal), late);
}

async function spoolBatch(spool: Spool, batch: Arrival[]): Promise<ArrivalOutcome[]> {
  const repeats = await Promise.all(batch.map((arrival) => spool.append(arrival)));
  webhooksSpooled.inc(batch.length);
  spoolBytes.set(spool.bytes);
  return repeats.map((duplicate) => ({ duplicate }));
}

/**
 * Cuts the sender's address between two characters to the size of its column. Behind a proxy the address is any text of a
 * header. Short texts, such as IPv4 addresses, are returned without encoding them.
 */
function truncateAddress(address: string): string {
  if (address.length * CHAR_BYTES_MAX <= ADDRESS_BYTES_MAX) return address;
  const { read } = encoder.encodeInto(address, buffer);
  return read === address.length ? address : address.slice(0, read);
}
