import type { KeyObject } from 'node:crypto';
import type { Context } from '../context.ts';
import { describeError } from '../log.ts';
import { readLiveKeys } from '../merchants/secrets.ts';
import type { ClaimedCallback } from './claim-callbacks.ts';
import { asksForLess, isDelivered } from './decide-outcome.ts';
import { giveBack } from './give-back.ts';
import { adaptLane, forget, laneOf, leavePlace, type Places } from './places.ts';
import type { DeliveryMerchant } from './read-delivery-merchants.ts';
import type { Recorder } from './recorder.ts';
import { renderBodies } from './render-bodies.ts';
import type { Answer, Sender } from './send-attempt.ts';
import { sign } from './sign.ts';

/** An attempt begins this long after its claim at the latest: with its own 15 s it ends well before the lease does. */
const CLAIM_AGE_MS_MAX = 30_000;
const USER_AGENT = 'Confere (callbacks; Standard Webhooks)';

export type Desk = { context: Context; sender: Sender; recorder: Recorder; places: Places };

/** Renders claimed callbacks, sends them side by side and hands what came of each to the recorder. Never throws. */
export async function dispatch(desk: Desk, merchants: DeliveryMerchant[], claimed: ClaimedCallback[]): Promise<void> {
  const { context, places } = desk;
  const messages = await prepare(desk, merchants, claimed);
  if (!messages) {
    await giveBack(context, claimed);
    for (const callback of claimed) forget(places, callback);
    return;
  }
  const sent = messages.map((message) =>
    sendOne(desk, message).catch((error: unknown) => {
      // it may have arrived: its lease runs out, and it goes again
      forget(places, message.callback);
      context.log.error({ error: describeError(error), callback: message.callback.seq }, 'an attempt broke off');
    }),
  );
  await Promise.all(sent);
}

type Message = { callback: ClaimedCallback; url: string; body: string | undefined; keys: KeyObject[] };

/** @returns undefined where nothing can be sent now. */
async function prepare(
  { context }: Desk,
  merchants: DeliveryMerchant[],
  claimed: ClaimedCallback[],
): Promise<Message[] | undefined> {
  const claimedAtMs = performance.now();
  try {
    const urls = new Map(merchants.map((merchant) => [merchant.seq, merchant.url]));
    const [keys, bodies] = await Promise.all([
      readLiveKeys(context, context.db, [...new Set(claimed.map((one) => one.merchantSeq))]),
      renderBodies(context, claimed),
    ]);
    if (performance.now() - claimedAtMs > CLAIM_AGE_MS_MAX) return undefined;
    const texts = new Map([...new Set(bodies.values())].map((body) => [body, JSON.stringify(body)]));
    return claimed.map((callback) => ({
      callback,
      url: urls.get(callback.merchantSeq) ?? '',
      body: texts.get(bodies.get(callback.seq) ?? {}),
      keys: keys.get(callback.merchantSeq) ?? [],
    }));
  } catch (error) {
    context.log.error({ error: describeError(error), callbacks: claimed.length }, 'callbacks could not be sent yet');
    return undefined;
  }
}

async function sendOne(desk: Desk, message: Message): Promise<void> {
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
    return;
  }
  const { retryAfterMs } = answer;
  const result = { delivered: isDelivered(answer), asksForLess: asksForLess(answer), retryAfterMs };
  adaptLane(laneOf(places, callback.merchantSeq), result, performance.now());
  if (leavePlace(places, callback)) context.bells.callbacks.ring();
  recorder.add({ callback, startedAt, requestHeaders, answer });
}

const NOT_RENDERABLE: Answer = {
  status: null,
  errorClass: 'not_renderable',
  retryAfterMs: undefined,
  body: null,
  durationMs: 0,
};
