import type { KeyObject } from 'node:crypto';
import type { Context } from '../context.ts';
import { describeError } from '../log.ts';
import { readLiveKeys } from '../merchants/secrets.ts';
import type { ClaimedCallback } from './claimed-callback.ts';
import { asksForLess, isDelivered } from './decide-outcome.ts';
import { giveBack } from './give-back.ts';
import { adaptLane, forget, laneOf, leavePlace, type Places, passPlace } from './places.ts';
import type { DeliveryMerchant } from './read-delivery-merchants.ts';
import type { Recorder } from './recorder.ts';
import { renderBodies } from './render-bodies.ts';
import type { Answer, Sender } from './send-attempt.ts';
import { sign } from './sign.ts';

/** An attempt begins this long after its claim at the latest: with its own 15 s it ends well before the lease does. */
const CLAIM_AGE_MS_MAX = 30_000;
const USER_AGENT = 'Confere (callbacks; Standard Webhooks)';

export type Desk = { context: Context; sender: Sender; recorder: Recorder; places: Places };

/**
 * Renders claimed callbacks, sends them side by side, each one's followers after it, and hands what came of each to the
 * recorder. Never throws.
 */
export async function dispatch(desk: Desk, merchants: DeliveryMerchant[], claimed: ClaimedCallback[]): Promise<void> {
  const claimedAtMs = performance.now();
  const messages = await prepare(desk, merchants, claimed);
  if (!messages || isStale(claimedAtMs)) {
    await returnAll(desk, claimed.flatMap(listChain));
    return;
  }
  await Promise.all(claimed.map((callback) => sendChain(desk, messages, listChain(callback), claimedAtMs)));
}

function listChain(first: ClaimedCallback): ClaimedCallback[] {
  return [first, ...first.followers];
}

function isStale(claimedAtMs: number): boolean {
  return performance.now() - claimedAtMs > CLAIM_AGE_MS_MAX;
}

async function returnAll({ context, places }: Desk, callbacks: ClaimedCallback[]): Promise<void> {
  await giveBack(context, callbacks);
  for (const callback of callbacks) forget(places, callback);
}

/** One after another as long as each is delivered; what is left then waits for whoever claims it. */
async function sendChain(
  desk: Desk,
  messages: Map<number, Message>,
  chain: ClaimedCallback[],
  claimedAtMs: number,
): Promise<void> {
  for (const [index, callback] of chain.entries()) {
    const next = chain[index + 1];
    const message = messages.get(callback.seq);
    const delivered = message !== undefined && (await sendOrForget(desk, message, next));
    if (delivered && next && !desk.context.signal.aborted && !isStale(claimedAtMs)) continue;
    await returnAll(desk, chain.slice(index + 1));
    return;
  }
}

async function sendOrForget(desk: Desk, message: Message, next: ClaimedCallback | undefined): Promise<boolean> {
  try {
    return await sendOne(desk, message, next);
  } catch (error) {
    // it may have arrived: its lease runs out, and it goes again
    forget(desk.places, message.callback);
    desk.context.log.error({ error: describeError(error), callback: message.callback.seq }, 'an attempt broke off');
    return false;
  }
}

type Message = { callback: ClaimedCallback; url: string; body: string | undefined; keys: KeyObject[] };

/** @returns what goes out, by the callback's row number; undefined where nothing can be sent now. */
async function prepare(
  { context }: Desk,
  merchants: DeliveryMerchant[],
  claimed: ClaimedCallback[],
): Promise<Map<number, Message> | undefined> {
  try {
    const urls = new Map(merchants.map((merchant) => [merchant.seq, merchant.url]));
    const [keys, bodies] = await Promise.all([
      readLiveKeys(context, context.db, [...new Set(claimed.map((one) => one.merchantSeq))]),
      renderBodies(context, claimed.flatMap(listChain)),
    ]);
    const texts = new Map([...new Set(bodies.values())].map((body) => [body, JSON.stringify(body)]));
    return new Map(
      claimed.flatMap(listChain).map((callback) => [
        callback.seq,
        {
          callback,
          url: urls.get(callback.merchantSeq) ?? '',
          body: texts.get(bodies.get(callback.seq) ?? {}),
          keys: keys.get(callback.merchantSeq) ?? [],
        },
      ]),
    );
  } catch (error) {
    context.log.error({ error: describeError(error), callbacks: claimed.length }, 'callbacks could not be sent yet');
    return undefined;
  }
}

/** @param next takes its place where it is delivered. @returns whether it is. */
async function sendOne(desk: Desk, message: Message, next: ClaimedCallback | undefined): Promise<boolean> {
  const { callback, keys, url, body = '' } = message;
  const { context, places, recorder, sender } = desk;
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
    forget(places, callback);
    return false;
  }
  const { retryAfterMs } = answer;
  const result = { delivered: isDelivered(answer), asksForLess: asksForLess(answer), retryAfterMs };
  adaptLane(laneOf(places, callback.merchantSeq), result, performance.now());
  if (result.delivered && next) passPlace(places, callback, next);
  else if (leavePlace(places, callback)) context.bells.callbacks.ring();
  recorder.add({ callback, startedAt, requestHeaders, answer });
  return result.delivered;
}

const NOT_RENDERABLE: Answer = {
  status: null,
  errorClass: 'not_renderable',
  retryAfterMs: undefined,
  body: null,
  durationMs: 0,
};
