import { type KeyObject, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { showUnseen } from '../../domain/language/show-unseen.ts';
import { generateWebhookId } from '../queue/derive-webhook-id.ts';
import { CHALLENGE_TYPE } from '../render/renderable.ts';
import { sign } from '../render/sign.ts';
import { composeOwnHeaders } from './attempt-headers.ts';
import { type AttemptResponse, openSender } from './send-attempt.ts';

const CHALLENGE_BYTES = 32;
/** The address is in a network of ours, and did not answer. */
export const PRIVATE = 'private';
/** The body that answers a challenge, for people. */
export const CHALLENGE_ANSWER = '{"challenge": "…"}';
const ANSWER_CHARS_MAX = 200;
const answered = z.object({ challenge: z.string() });

/**
 * Sends a new address a signed message with a random value, by the rules of callbacks, and without the merchant's own headers:
 * nobody has proven whose the address is. It answers 2xx with `{"challenge": value}`. A service that only repeats what it is sent does
 * not: the message has the value in `data`.
 * @returns why it did not: a status with the beginning of the answer, an error class, or PRIVATE; undefined if it did.
 */
export async function challengeAddress(context: Context, url: string, keys: KeyObject[]): Promise<string | undefined> {
  const why = await challenge(context, url, keys, false);
  if (why !== 'forbidden_address' || !context.config.CALLBACK_ALLOW_PRIVATE) return why;
  // of addresses in our own network, the reason would show what is there
  return (await challenge(context, url, keys, true)) === undefined ? undefined : PRIVATE;
}

async function challenge(
  context: Context,
  url: string,
  keys: KeyObject[],
  allowPrivate: boolean,
): Promise<string | undefined> {
  await using sender = openSender({ allowPrivate, timers: context.timers });
  const startedAt = context.clock.now();
  const value = randomBytes(CHALLENGE_BYTES).toString('hex');
  const message = { type: CHALLENGE_TYPE, timestamp: startedAt.toISOString(), test: true, data: { challenge: value } };
  const body = JSON.stringify(message);
  const id = generateWebhookId();
  const headers = composeOwnHeaders(id, startedAt);
  const timestamp = Number(headers['webhook-timestamp']);
  const signature = sign(keys, { id, timestamp, body });
  const answer = await sender.send(url, { ...headers, 'webhook-signature': signature }, body);
  if (answer?.errorClass === null && readChallenge(answer.body) === value) return undefined;
  return describeAnswer(answer);
}

/** Returns the status and the beginning of an answer, for the merchant; without a status the error class. Pure. */
export function describeAnswer(answer: AttemptResponse | undefined): string {
  if (!answer || answer.status === null) return answer?.errorClass ?? 'timeout';
  const said = showUnseen(answer.body?.toString().slice(0, ANSWER_CHARS_MAX).trim() ?? '');
  return [`HTTP ${answer.status}`, said].filter(Boolean).join(': ');
}

function readChallenge(body: Buffer | null): string | undefined {
  try {
    return answered.safeParse(JSON.parse(body?.toString() ?? '')).data?.challenge;
  } catch {
    return undefined;
  }
}
