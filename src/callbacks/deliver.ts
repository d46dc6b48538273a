import type { KeyObject } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { poll } from '../database/poll.ts';
import { describeError } from '../log.ts';
import { readLiveKeys } from '../merchants/secrets.ts';
import { type ClaimedCallback, claimCallbacks, claimProbe, type Want } from './claim-callbacks.ts';
import { asksForLess, isDelivered } from './decide-outcome.ts';
import { holdAndDrain, type Ramps } from './hold-and-drain.ts';
import { adaptLane, createLane, freePlaces, type Lane } from './lane.ts';
import { type DeliveryMerchant, readDeliveryMerchants } from './read-delivery-merchants.ts';
import type { Attempt, MerchantTrouble, Recorded } from './record-attempts.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { renderBodies } from './render-bodies.ts';
import { type Answer, openSender, type Sender } from './send-attempt.ts';
import { sign } from './sign.ts';

export type { MerchantTrouble } from './record-attempts.ts';

const IDLE_MS = 250;
const IDLE_MS_MAX = 1_000;
/** Looks that found nothing, before they become rarer. */
const IDLE_LOOKS = 20;
const UPKEEP_EVERY_MS = 1_000;
const IN_FLIGHT_MAX = 1_000;
/** An attempt begins this long after its claim at the latest: with its own 15 s it ends well before the lease does. */
const CLAIM_AGE_MS_MAX = 30_000;
/** What is in flight when the process is told to stop has this long to end. */
const DRAIN_MS = 10_000;
const GIVE_UP_MS = 3_000;
const USER_AGENT = 'Confere (callbacks; Standard Webhooks)';

export type DeliveryOptions = {
  /** Called at least once for each trouble of a merchant. */
  onTrouble?: (trouble: MerchantTrouble) => Promise<void> | void;
  /** A merchant that was told of as failing has taken a callback again. */
  onRecovery?: (merchantId: string) => Promise<void> | void;
};

type Delivery = {
  context: Context;
  sender: Sender;
  recorder: Recorder;
  lanes: Map<number, Lane>;
  /** Claimed and not yet recorded. */
  busy: Set<number>;
  sending: Set<Promise<void>>;
  ramps: Ramps;
  upkeepAtMs: number;
  idleLooks: number;
};

/**
 * Delivers callbacks until the context's signal, then lets what is in flight end.
 *
 * A callback is `pending` (due at next_attempt_at; while it is in flight, its lease runs until then), `held` (its
 * merchant is paused, disabled, behind an open breaker, or has been away for a whole schedule), `delivered` or `failed`.
 * One look claims what is due for each merchant, as much as its lane has places, and commits; the attempts are sent
 * side by side; what came of them is recorded in batches, which wakes the next look. A merchant can only ever fill its
 * own lane, and a callback waits only for older ones of its own transaction.
 */
export async function startDelivery(context: Context, options: DeliveryOptions = {}): Promise<void> {
  await using sender = openSender({ allowPrivate: context.config.CALLBACK_ALLOW_PRIVATE });
  const giveUp = new AbortController();
  const lanes = new Map<number, Lane>();
  const busy = new Set<number>();
  const onRecorded = async (attempts: Attempt[], recorded: Recorded): Promise<void> => {
    for (const { callback } of attempts) release(lanes, busy, callback);
    context.bells.callbacks.ring();
    await tellTroubles(context, recorded, options);
  };
  const recorder = createRecorder(context, onRecorded, giveUp.signal);
  const sending = new Set<Promise<void>>();
  const delivery = { context, sender, recorder, lanes, busy, sending, ramps: new Map(), upkeepAtMs: 0, idleLooks: 0 };
  await poll({
    name: 'callbacks',
    work: () => look(delivery),
    bell: context.bells.callbacks,
    idleMs: IDLE_MS,
    log: context.log,
    signal: context.signal,
  });
  await Promise.race([Promise.all(sending), sleep(DRAIN_MS, undefined, { ref: false })]);
  sender.abandon();
  await Promise.all(sending);
  await Promise.race([recorder.flushed(), sleep(GIVE_UP_MS, undefined, { ref: false })]);
  giveUp.abort();
}

/** @returns whether there may be more at once. */
async function look(delivery: Delivery): Promise<boolean> {
  const { context } = delivery;
  await keepUp(delivery);
  const merchants = await readDeliveryMerchants(context);
  const claimed = await claim(delivery, merchants);
  if (claimed.length > 0) {
    delivery.idleLooks = 0;
    await send(delivery, merchants, claimed);
    return true;
  }
  if (++delivery.idleLooks <= IDLE_LOOKS || delivery.sending.size > 0) return false;
  await context.bells.callbacks.wait(IDLE_MS_MAX, context.signal);
  return true;
}

async function keepUp(delivery: Delivery): Promise<void> {
  if (performance.now() < delivery.upkeepAtMs) return;
  const { drained } = await holdAndDrain(delivery.context, delivery.ramps);
  delivery.upkeepAtMs = performance.now() + UPKEEP_EVERY_MS;
  if (drained > 0) delivery.idleLooks = 0;
}

async function claim(delivery: Delivery, merchants: DeliveryMerchant[]): Promise<ClaimedCallback[]> {
  const { context, lanes, busy } = delivery;
  const nowMs = performance.now();
  let left = IN_FLIGHT_MAX - busy.size;
  const wants: Want[] = [];
  const claimed: ClaimedCallback[] = [];
  for (const merchant of merchants) {
    const places = Math.min(freePlaces(laneOf(lanes, merchant.seq), nowMs), left);
    if (places === 0) continue;
    if (merchant.probeIsDue) claimed.push(...(await claimProbe(context, merchant, busy)));
    wants.push({ merchant, places });
    left -= places;
  }
  if (wants.length > 0) claimed.push(...(await claimCallbacks(context, wants, busy)));
  for (const callback of claimed) {
    busy.add(callback.seq);
    laneOf(lanes, callback.merchantSeq).inFlight++;
  }
  return claimed;
}

async function send(delivery: Delivery, merchants: DeliveryMerchant[], claimed: ClaimedCallback[]): Promise<void> {
  const { context, lanes, busy } = delivery;
  const claimedAtMs = performance.now();
  try {
    const bySeq = new Map(merchants.map((merchant) => [merchant.seq, merchant]));
    const keys = await readLiveKeys(context, context.db, [...new Set(claimed.map((one) => one.merchantSeq))]);
    const bodies = await renderBodies(context, claimed);
    if (performance.now() - claimedAtMs > CLAIM_AGE_MS_MAX) throw new Error('claimed too long ago');
    for (const callback of claimed) {
      const url = bySeq.get(callback.merchantSeq)?.url ?? '';
      const body = bodies.get(callback.seq);
      const message = { url, body, keys: keys.get(callback.merchantSeq) ?? [] };
      const sent = sendOne(delivery, callback, message).catch((error: unknown) => {
        release(lanes, busy, callback);
        context.log.error({ error: describeError(error), callback: callback.seq }, 'an attempt could not be made');
      });
      delivery.sending.add(sent);
      void sent.finally(() => delivery.sending.delete(sent));
    }
  } catch (error) {
    // nothing was sent: the leases run out
    for (const callback of claimed) release(lanes, busy, callback);
    throw error;
  }
}

async function sendOne(
  delivery: Delivery,
  callback: ClaimedCallback,
  message: { url: string; body: object | undefined; keys: KeyObject[] },
): Promise<void> {
  const { context, lanes, busy, recorder, sender } = delivery;
  const startedAt = context.clock.now();
  const body = JSON.stringify(message.body ?? null);
  const timestamp = Math.floor(startedAt.getTime() / 1000);
  const requestHeaders = {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    'webhook-id': callback.webhookId,
    'webhook-timestamp': String(timestamp),
  };
  const signature = sign(message.keys, { id: callback.webhookId, timestamp, body });
  const headers = { ...requestHeaders, 'webhook-signature': signature };
  const answer = message.body && signature ? await sender.send(message.url, headers, body) : NOT_RENDERABLE;
  if (!answer) {
    release(lanes, busy, callback);
    return;
  }
  const result = {
    delivered: isDelivered(answer),
    asksForLess: asksForLess(answer),
    retryAfterMs: answer.retryAfterMs,
  };
  adaptLane(laneOf(lanes, callback.merchantSeq), result, performance.now());
  recorder.add({ callback, startedAt, requestHeaders, answer });
}

const NOT_RENDERABLE: Answer = {
  status: null,
  errorClass: 'not_renderable',
  retryAfterMs: undefined,
  body: null,
  durationMs: 0,
};

function laneOf(lanes: Map<number, Lane>, merchantSeq: number): Lane {
  const known = lanes.get(merchantSeq);
  if (known) return known;
  const lane = createLane();
  lanes.set(merchantSeq, lane);
  return lane;
}

function release(lanes: Map<number, Lane>, busy: Set<number>, callback: ClaimedCallback): void {
  if (busy.delete(callback.seq)) laneOf(lanes, callback.merchantSeq).inFlight--;
}

async function tellTroubles(context: Context, recorded: Recorded, options: DeliveryOptions): Promise<void> {
  try {
    for (const trouble of recorded.troubles) {
      context.log.warn({ merchant: trouble.merchantId, since: trouble.since, kind: trouble.kind }, 'merchant trouble');
      await options.onTrouble?.(trouble);
      const set = { warned_at: context.clock.now() };
      await context.db.updateTable('merchants').set(set).where('id', '=', trouble.merchantId).execute();
    }
    for (const merchantId of recorded.recovered) await options.onRecovery?.(merchantId);
  } catch (error) {
    // told again at the next failure: it is not marked as told
    context.log.error({ error: describeError(error) }, 'could not tell of a merchant in trouble');
  }
}
