import { type KeyObject, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { generateWebhookId } from '../queue/derive-webhook-id.ts';
import { CHALLENGE_TYPE } from '../render/renderable.ts';
import { sign } from '../render/sign.ts';
import { composeOwnHeaders } from './attempt-headers.ts';
import { openSender } from './send-attempt.ts';

const CHALLENGE_BYTES = 32;
const answered = z.object({ challenge: z.string() });

/**
 * Sends a new address a signed message with a random value, by the rules of callbacks, and without the merchant's own headers:
 * nobody has proven whose the address is. It answers 2xx with `{"challenge": value}`. A service that only repeats what it is sent does
 * not: the message has the value in `data`.
 * @returns why it did not; undefined if it did.
 */
export async function challengeAddress(context: Context, url: string, keys: KeyObject[]): Promise<string | undefined> {
  const { CALLBACK_ALLOW_PRIVATE: allowPrivate } = context.config;
  await using sender = openSender({ allowPrivate, timers: context.timers });
  const startedAt = context.clock.now();
  const challenge = randomBytes(CHALLENGE_BYTES).toString('hex');
  const message = { type: CHALLENGE_TYPE, timestamp: startedAt.toISOString(), test: true, data: { challenge } };
  const body = JSON.stringify(message);
  const id = generateWebhookId();
  const headers = composeOwnHeaders(id, startedAt);
  const timestamp = Number(headers['webhook-timestamp']);
  const signature = sign(keys, { id, timestamp, body });
  const answer = await sender.send(url, { ...headers, 'webhook-signature': signature }, body);
  // of addresses in our own network, the reason would show what is there
  const describe = (reason: string): string => (allowPrivate ? 'no_answer' : reason);
  if (!answer || answer.errorClass !== null)
    return describe(answer?.status?.toString() ?? answer?.errorClass ?? 'timeout');
  try {
    const parsed = answered.safeParse(JSON.parse(answer.body?.toString() ?? ''));
    return parsed.data?.challenge === challenge ? undefined : describe('other_answer');
  } catch {
    return describe('other_answer');
  }
}
