import type { Context } from '../../context.ts';
import { describeError } from '../../log.ts';
import { type Credentials, readCredentials } from '../../merchants/secrets.ts';
import { createBatcher } from '../../runtime/batch.ts';
import { TEST_SOURCE } from '../health/callback-sources.ts';
import { holdsBack } from '../health/merchant-health.ts';
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
import { composeHeaders, composeMessage, type Message, type Prepared } from './compose-message.ts';
import { type ErrorClass, isDelivered, signalsOverload } from './decide-outcome.ts';
import type { Recorder } from './recorder.ts';
import type { AttemptResponse, Sender } from './send-attempt.ts';
import { traceAttempt } from './trace-attempt.ts';

/** An attempt starts at most this long after its claim: with its own 15 s it ends well before the lease of 60 s. */
const CLAIM_AGE_MS_MAX = 30_000;
/** Successors whose turn comes while others are prepared are prepared in one batch of at most this many. */
const PREPARE_MAX = 100;
const PREPARING_MAX = 2;

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

export function createPrepareSuccessor(context: Context): Dispatcher['prepareSuccessor'] {
  return createBatcher<ClaimedCallback, Prepared>({
    itemsMax: PREPARE_MAX,
    bytesMax: Number.POSITIVE_INFINITY,
    sizeOf: () => 0,
    inFlightMax: PREPARING_MAX,
    work: async (callbacks) => {
      const toSend = await readToSend(context, callbacks);
      return callbacks.map(({ seq }) => toSend.get(seq) ?? UNKNOWN);
    },
  });
}

/** By row number. */
type ToSend = Map<number, Prepared>;

/** @returns the current body of each callback, and how its merchant is reached. */
export async function readToSend(context: Context, callbacks: ClaimedCallback[]): Promise<ToSend> {
  const reading = readCredentials(context, context.db, [...new Set(callbacks.map((one) => one.merchantSeq))]);
  // a test address that is unconfirmed since must not get the example that was rendered before
  if (callbacks.some(({ source }) => source === TEST_SOURCE)) await reading;
  const [credentials, bodies] = await Promise.all([reading, renderBodies(context, callbacks)]);
  return new Map(
    callbacks.map(({ seq, merchantSeq }) => [seq, { to: credentials.get(merchantSeq), body: bodies.get(seq) }]),
  );
}

/** Whether nothing but a slot is needed to send to a merchant. */
export function isSentFreely(to: Credentials | undefined): boolean {
  return to !== undefined && !holdsBack(to.row) && to.row.rate === null && to.row.is_restored === 0;
}

const UNKNOWN: Prepared = { body: undefined, to: undefined };

/**
 * Renders claimed callbacks and sends them in parallel, each followed by its successors. Passes each attempt to the
 * recorder. Never throws.
 * @param claimedAtMs when their leases began, by the monotonic clock.
 * @param reading what is sent, if it is being read since the claim.
 */
export async function dispatch(
  dispatcher: Dispatcher,
  claimed: ClaimedCallback[],
  claimedAtMs = dispatcher.context.timers.monotonicMs(),
  reading = readToSend(dispatcher.context, claimed),
): Promise<void> {
  const { context } = dispatcher;
  const prepared = await prepare(dispatcher, claimed, reading);
  const messages = isStale(context, claimedAtMs) ? [] : prepared;
  const sent = new Set(messages.map((message) => message.callback));
  const others = claimed.filter((one) => !sent.has(one)).flatMap((one) => [one, ...one.successors]);
  if (others.length > 0) await releaseAll(dispatcher, others);
  await Promise.all(messages.map((message) => sendChain(dispatcher, message, claimedAtMs)));
}

/** Whether it is too late to begin an attempt: the lease might run out before its end. */
export function isStale({ timers }: Context, claimedAtMs: number): boolean {
  return timers.monotonicMs() - claimedAtMs > CLAIM_AGE_MS_MAX;
}

/** Releases callbacks that are not sent, and their slots. */
export async function releaseAll(
  { context, slots }: Pick<Dispatcher, 'context' | 'slots'>,
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

/** @returns the messages in the order of the callbacks, without those that can't be sent; none if the database fails. */
async function prepare(
  { context }: Dispatcher,
  callbacks: ClaimedCallback[],
  reading: Promise<ToSend>,
): Promise<Message[]> {
  try {
    const toSend = await reading;
    // an event for many merchants is serialized once
    const texts = new Map<object, string>();
    const write = (body: object): string => {
      const text = texts.get(body) ?? JSON.stringify(body);
      texts.set(body, text);
      return text;
    };
    return callbacks.flatMap((callback) => composeMessage(callback, toSend.get(callback.seq) ?? UNKNOWN, write) ?? []);
  } catch (error) {
    context.log.error(
      { error: describeError(error), callbacks: callbacks.length },
      'callbacks could not be rendered; they are released',
    );
    return [];
  }
}

/** @returns undefined if the callback can't be sent now. */
async function prepareMessage(
  dispatcher: Dispatcher,
  callback: ClaimedCallback,
  claimedAtMs: number,
): Promise<Message | undefined> {
  try {
    const prepared = await dispatcher.prepareSuccessor(callback);
    // rendering may have taken long, and its merchant may have changed since the last round
    if (!isSentFreely(prepared.to) || !maySendSuccessor(dispatcher, callback, claimedAtMs)) return undefined;
    return composeMessage(callback, prepared);
  } catch (error) {
    dispatcher.context.log.error(
      { error: describeError(error), callback: callback.webhookId },
      'a callback could not be rendered; it is released',
    );
    return undefined;
  }
}

/** @returns whether the successor has the slot now. */
async function sendOne(dispatcher: Dispatcher, message: Message, { next, claimedAtMs }: Successor): Promise<boolean> {
  const { callback } = message;
  const { context, slots, recorder, sender, merchants } = dispatcher;
  const startedAt = context.clock.now();
  const headers = composeHeaders(message, startedAt);
  const send = async () =>
    message.body === undefined ? refuse(message.problem) : await sender.send(message.url, headers, message.body);
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
  const { elsewhere } = message;
  const host = elsewhere || callback.source === TEST_SOURCE ? new URL(message.url).host : undefined;
  recorder.add({ callback, startedAt, merchantHeaders: Object.keys(message.headers), response, elsewhere, host });
  return passes;
}

/** The result of a message that is not sent. */
function refuse(errorClass: ErrorClass): AttemptResponse {
  return { status: null, errorClass, retryAfterMs: undefined, body: null, durationMs: 0 };
}
