import type { KeyObject } from 'node:crypto';
import type { Context } from '../../context.ts';
import { ConfereError } from '../../domain/errors.ts';
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
import { traceAttempt } from './trace-attempt.ts';

/** An attempt starts at most this long after its claim: with its own 15 s it ends well before the lease of 60 s. */
const CLAIM_AGE_MS_MAX = 30_000;
/** Successors whose turn comes while others are prepared are prepared in one batch of at most this many. */
const PREPARE_MAX = 100;
const PREPARING_MAX = 2;
const USER_AGENT = 'Confere (callbacks; Standard Webhooks)';

export type Dispatcher = {
  context: Context;
  sender: Sender;
  recorder: Recorder;
  slots: Slots;
  /** As the last round of the loop read them, by row number. */
  merchants: Map<number, DeliveryMerchant>;
  /**
   * Renders a successor when its turn comes: since the claim, a person may have been forgotten or a secret rotated.
   * @throws Error when the database fails.
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

/** @returns the current body of each callback, and the keys that sign it. */
async function readToSend(context: Context, callbacks: ClaimedCallback[]): Promise<Prepared[]> {
  const [keys, bodies] = await Promise.all([
    readLiveKeys(context, context.db, [...new Set(callbacks.map((one) => one.merchantSeq))]),
    renderBodies(context, callbacks),
  ]);
  return callbacks.map(({ seq, merchantSeq }) => ({ body: bodies.get(seq), keys: keys.get(merchantSeq) ?? [] }));
}

/**
 * Renders claimed callbacks and sends them in parallel, each followed by its successors. Passes each attempt to the
 * recorder. Never throws.
 */
export async function dispatch(dispatcher: Dispatcher, claimed: ClaimedCallback[]): Promise<void> {
  const { context } = dispatcher;
  const claimedAtMs = context.timers.monotonicMs();
  const messages = await prepare(dispatcher, claimed);
  if (!messages || isStale(context, claimedAtMs)) {
    await releaseAll(
      dispatcher,
      claimed.flatMap((one) => [one, ...one.successors]),
    );
    return;
  }
  await Promise.all(messages.map((message) => sendChain(dispatcher, message, claimedAtMs)));
}

function isStale({ timers }: Context, claimedAtMs: number): boolean {
  return timers.monotonicMs() - claimedAtMs > CLAIM_AGE_MS_MAX;
}

async function releaseAll(
  { context, slots }: Dispatcher,
  callbacks: ClaimedCallback[],
  sent?: ClaimedCallback,
): Promise<void> {
  await releaseCallbacks(context, callbacks, sent);
  const mayHaveMore = callbacks.map((callback) => untrackCallback(slots, callback));
  if (mayHaveMore.includes(true)) context.wakeUps.callbacks.notify();
}

/**
 * Sends a callback and its successors, one after another, while each is delivered and the merchant may take the next. The
 * rest is released. Each is rendered when its turn comes: a person may have been forgotten since the claim.
 */
async function sendChain(dispatcher: Dispatcher, first: Message, claimedAtMs: number): Promise<void> {
  let rest = first.callback.successors;
  let message: Message | undefined = first;
  let sent = first.callback;
  while (message) {
    sent = message.callback;
    const passed = await sendOrUntrack(dispatcher, message, { next: rest[0], claimedAtMs });
    message = passed && rest[0] ? await prepareMessage(dispatcher, rest[0], claimedAtMs) : undefined;
    if (message) rest = rest.slice(1);
  }
  await releaseAll(dispatcher, rest, sent);
}

type Successor = { next: ClaimedCallback | undefined; claimedAtMs: number };

/** Whether a successor may be sent: not if the process stops, the claim is old, or its merchant has changed or asks for less. */
function maySendSuccessor(
  { context, slots, merchants }: Dispatcher,
  next: ClaimedCallback,
  claimedAtMs: number,
): boolean {
  if (context.signal.aborted || isStale(context, claimedAtMs)) return false;
  const merchant = merchants.get(next.merchantSeq);
  if (!merchant || merchant.holdsBack || merchant.rate !== null) return false;
  return mayPassSlot(slots, next, context.timers.monotonicMs());
}

async function sendOrUntrack(dispatcher: Dispatcher, message: Message, successor: Successor): Promise<boolean> {
  try {
    return await sendOne(dispatcher, message, successor);
  } catch (error) {
    // it may have arrived: its lease runs out, and it is sent again
    untrackCallback(dispatcher.slots, message.callback);
    dispatcher.context.log.error(
      { error: describeError(error), callback: message.callback.webhookId },
      'an attempt failed unexpectedly; the callback is sent again',
    );
    return false;
  }
}

type Message = { callback: ClaimedCallback; url: string; body: string | undefined; keys: KeyObject[] };

/** @returns the messages in the order of the callbacks; undefined if one can't be prepared or the database fails. */
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
      url: urlOf(merchants, callback),
      body: texts.get(prepared[index]?.body ?? {}),
      keys: prepared[index]?.keys ?? [],
    }));
  } catch (error) {
    context.log.error(
      { error: describeError(error), callbacks: callbacks.length },
      'callbacks could not be rendered; they are released',
    );
    return undefined;
  }
}

/** @returns undefined if the callback can't be sent now. */
async function prepareMessage(
  dispatcher: Dispatcher,
  callback: ClaimedCallback,
  claimedAtMs: number,
): Promise<Message | undefined> {
  try {
    const { body, keys } = await dispatcher.prepareSuccessor(callback);
    // rendering may have taken long
    if (!maySendSuccessor(dispatcher, callback, claimedAtMs)) return undefined;
    const url = urlOf(dispatcher.merchants, callback);
    return { callback, url, body: body && JSON.stringify(body), keys };
  } catch (error) {
    dispatcher.context.log.error(
      { error: describeError(error), callback: callback.webhookId },
      'a callback could not be rendered; it is released',
    );
    return undefined;
  }
}

/** @throws ConfereError `not_found` if the round did not read the callback's merchant: a bug. */
function urlOf(merchants: Dispatcher['merchants'], callback: ClaimedCallback): string {
  const merchant = merchants.get(callback.merchantSeq);
  if (!merchant) {
    const missing = `callback ${callback.seq} has no merchant ${callback.merchantSeq} to be sent to`;
    throw new ConfereError('not_found', missing);
  }
  return merchant.url;
}

/** @returns whether the successor has the slot now. */
async function sendOne(dispatcher: Dispatcher, message: Message, { next, claimedAtMs }: Successor): Promise<boolean> {
  const { callback, keys, url, body = '' } = message;
  const { context, slots, recorder, sender, merchants } = dispatcher;
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
  const send = async () => (body && signature ? await sender.send(url, headers, body) : NOT_RENDERABLE);
  const response = await traceAttempt(context, callback, merchants.get(callback.merchantSeq)?.id, send);
  if (!response) {
    // aborted at shutdown: it may have arrived, so its lease runs out and it is sent again
    untrackCallback(slots, callback);
    return false;
  }
  const { retryAfterMs } = response;
  const result = { delivered: isDelivered(response), asksForLess: signalsOverload(response), retryAfterMs };
  adaptLimit(limitOf(slots, callback.merchantSeq), result, context.timers.monotonicMs());
  const passes = result.delivered && next !== undefined && maySendSuccessor(dispatcher, next, claimedAtMs);
  if (passes) passSlot(slots, callback, next);
  else if (releaseSlot(slots, callback)) context.wakeUps.callbacks.notify();
  recorder.add({ callback, startedAt, requestHeaders, response });
  return passes;
}

const NOT_RENDERABLE: AttemptResponse = {
  status: null,
  errorClass: 'not_renderable',
  retryAfterMs: undefined,
  body: null,
  durationMs: 0,
};
