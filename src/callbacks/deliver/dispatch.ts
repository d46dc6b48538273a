import type { KeyObject } from 'node:crypto';
import type { Context } from '../../context.ts';
import { describeError } from '../../log.ts';
import { readLiveKeys } from '../../merchants/secrets.ts';
import { createBatcher } from '../../runtime/batch.ts';
import type { ClaimedCallback } from '../queue/claimed-callback.ts';
import type { DeliveryMerchant } from '../queue/read-delivery-merchants.ts';
import { releaseCallbacks } from '../queue/release-callbacks.ts';
import {
  adaptLimit,
  limitOf,
  mayPassSlot,
  passSlot,
  releaseSlot,
  type Slots,
  untrackCallback,
} from '../queue/slots.ts';
import { renderBodies } from '../render/render-bodies.ts';
import { sign } from '../render/sign.ts';
import { isDelivered, signalsOverload } from './decide-outcome.ts';
import type { Recorder } from './recorder.ts';
import type { AttemptResponse, Sender } from './send-attempt.ts';

/** An attempt begins this long after its claim at the latest: with its own 15 s it ends well before the lease does. */
const CLAIM_AGE_MS_MAX = 30_000;
/** Followers that come to their turn while others are prepared are prepared together. */
const PREPARE_MAX = 100;
const PREPARING_MAX = 2;
const USER_AGENT = 'Confere (callbacks; Standard Webhooks)';

export type Dispatcher = {
  context: Context;
  sender: Sender;
  recorder: Recorder;
  slots: Slots;
  /** As the last look read them, by row number. */
  merchants: Map<number, DeliveryMerchant>;
  /**
   * A follower at its own turn: somebody may have been forgotten, or a secret rotated, since its claim.
   * @throws Error when the database does not tell.
   */
  prepareSuccessor: (callback: ClaimedCallback) => Promise<Prepared>;
};

type Prepared = { body: object | undefined; keys: KeyObject[] };

export function createPrepareSuccessor(context: Context): Dispatcher['prepareSuccessor'] {
  return createBatcher<ClaimedCallback, Prepared>({
    itemsMax: PREPARE_MAX,
    bytesMax: Number.POSITIVE_INFINITY,
    sizeOf: () => 0,
    inFlightMax: PREPARING_MAX,
    work: (callbacks) => readToSend(context, callbacks),
  });
}

/** What each callback says now, and who signs it. */
async function readToSend(context: Context, callbacks: ClaimedCallback[]): Promise<Prepared[]> {
  const [keys, bodies] = await Promise.all([
    readLiveKeys(context, context.db, [...new Set(callbacks.map((one) => one.merchantSeq))]),
    renderBodies(context, callbacks),
  ]);
  return callbacks.map(({ seq, merchantSeq }) => ({ body: bodies.get(seq), keys: keys.get(merchantSeq) ?? [] }));
}

/**
 * Renders claimed callbacks, sends them side by side, each one's followers after it, and hands what came of each to the
 * recorder. Never throws.
 */
export async function dispatch(desk: Dispatcher, claimed: ClaimedCallback[]): Promise<void> {
  const { context } = desk;
  const claimedAtMs = context.timers.monotonicMs();
  const messages = await prepare(desk, claimed);
  if (!messages || isStale(context, claimedAtMs)) {
    await returnAll(
      desk,
      claimed.flatMap((one) => [one, ...one.successors]),
    );
    return;
  }
  await Promise.all(messages.map((message) => sendChain(desk, message, claimedAtMs)));
}

function isStale({ timers }: Context, claimedAtMs: number): boolean {
  return timers.monotonicMs() - claimedAtMs > CLAIM_AGE_MS_MAX;
}

async function returnAll(
  { context, slots: places }: Dispatcher,
  callbacks: ClaimedCallback[],
  sent?: ClaimedCallback,
): Promise<void> {
  await releaseCallbacks(context, callbacks, sent);
  const mayHaveMore = callbacks.map((callback) => untrackCallback(places, callback));
  if (mayHaveMore.includes(true)) context.wakeUps.callbacks.notify();
}

/**
 * One after another as long as each is delivered and its merchant may take the next; what is left then waits for whoever
 * claims it. Each is rendered at its own turn, as everything is that is sent: somebody may have been forgotten meanwhile.
 */
async function sendChain(desk: Dispatcher, first: Message, claimedAtMs: number): Promise<void> {
  let rest = first.callback.successors;
  let message: Message | undefined = first;
  let sent = first.callback;
  while (message) {
    sent = message.callback;
    const passed = await sendOrForget(desk, message, { next: rest[0], claimedAtMs });
    message = passed && rest[0] ? await prepareFollower(desk, rest[0], claimedAtMs) : undefined;
    if (message) rest = rest.slice(1);
  }
  await returnAll(desk, rest, sent);
}

type Follower = { next: ClaimedCallback | undefined; claimedAtMs: number };

/** Not where the process ends, the claim is old, or its merchant has changed or asked for a pause since. */
function mayFollow(
  { context, slots: places, merchants }: Dispatcher,
  next: ClaimedCallback,
  claimedAtMs: number,
): boolean {
  if (context.signal.aborted || isStale(context, claimedAtMs)) return false;
  const merchant = merchants.get(next.merchantSeq);
  if (!merchant || merchant.holdsBack || merchant.rate !== null) return false;
  return mayPassSlot(places, next, context.timers.monotonicMs());
}

async function sendOrForget(desk: Dispatcher, message: Message, follower: Follower): Promise<boolean> {
  try {
    return await sendOne(desk, message, follower);
  } catch (error) {
    // it may have arrived: its lease runs out, and it goes again
    untrackCallback(desk.slots, message.callback);
    desk.context.log.error({ error: describeError(error), callback: message.callback.seq }, 'an attempt broke off');
    return false;
  }
}

type Message = { callback: ClaimedCallback; url: string; body: string | undefined; keys: KeyObject[] };

/** @returns what goes out, in this order; undefined where nothing can be sent now. */
async function prepare(
  { context, merchants }: Dispatcher,
  callbacks: ClaimedCallback[],
): Promise<Message[] | undefined> {
  try {
    const prepared = await readToSend(context, callbacks);
    const bodies = new Set(prepared.flatMap(({ body }) => body ?? []));
    const texts = new Map([...bodies].map((body) => [body, JSON.stringify(body)]));
    return callbacks.map((callback, index) => ({
      callback,
      url: merchants.get(callback.merchantSeq)?.url ?? '',
      body: texts.get(prepared[index]?.body ?? {}),
      keys: prepared[index]?.keys ?? [],
    }));
  } catch (error) {
    context.log.error({ error: describeError(error), callbacks: callbacks.length }, 'callbacks could not be sent yet');
    return undefined;
  }
}

/** @returns undefined where it can't be sent now. */
async function prepareFollower(
  desk: Dispatcher,
  callback: ClaimedCallback,
  claimedAtMs: number,
): Promise<Message | undefined> {
  try {
    const { body, keys } = await desk.prepareSuccessor(callback);
    // that may have taken its time
    if (!mayFollow(desk, callback, claimedAtMs)) return undefined;
    const url = desk.merchants.get(callback.merchantSeq)?.url ?? '';
    return { callback, url, body: body && JSON.stringify(body), keys };
  } catch (error) {
    desk.context.log.error({ error: describeError(error), callback: callback.seq }, 'a callback could not be sent yet');
    return undefined;
  }
}

/** @returns whether the one that follows has its place now. */
async function sendOne(desk: Dispatcher, message: Message, { next, claimedAtMs }: Follower): Promise<boolean> {
  const { callback, keys, url, body = '' } = message;
  const { context, slots: places, recorder, sender } = desk;
  const startedAt = context.clock.now();
  const timestamp = Math.floor(startedAt.getTime() / 1000);
  const requestHeaders = {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    'webhook-id': callback.webhookId,
    'webhook-timestamp': String(timestamp),
  };
  const signature = sign(keys, { id: callback.webhookId, timestamp, body });
  const headers = { ...requestHeaders, 'webhook-signature': signature };
  const answer = body && signature ? await sender.send(url, headers, body) : NOT_RENDERABLE;
  if (!answer) {
    // abandoned at the end of the process: whether it arrived is not known, so its lease runs out and it goes again
    untrackCallback(places, callback);
    return false;
  }
  const { retryAfterMs } = answer;
  const result = { delivered: isDelivered(answer), asksForLess: signalsOverload(answer), retryAfterMs };
  adaptLimit(limitOf(places, callback.merchantSeq), result, context.timers.monotonicMs());
  const passes = result.delivered && next !== undefined && mayFollow(desk, next, claimedAtMs);
  if (passes) passSlot(places, callback, next);
  else if (releaseSlot(places, callback)) context.wakeUps.callbacks.notify();
  recorder.add({ callback, startedAt, requestHeaders, response: answer });
  return passes;
}

const NOT_RENDERABLE: AttemptResponse = {
  status: null,
  errorClass: 'not_renderable',
  retryAfterMs: undefined,
  body: null,
  durationMs: 0,
};
