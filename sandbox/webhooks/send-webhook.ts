import { request } from 'undici';
import type { Sandbox } from '../context.ts';

const ANSWER_LENGTH_MAX = 200;

export type SendResult = { delivered: boolean; answer: string };

/** Sends one webhook once. A 2xx answer is a delivery; anything else is retried. Never throws. */
export async function sendWebhook(
  sandbox: Sandbox,
  webhook: { body: string; authorised: number },
): Promise<SendResult> {
  const { webhookUrl } = sandbox.settings;
  if (webhookUrl === undefined) return { delivered: false, answer: 'no address configured' };
  const { timeout_ms } = sandbox.switches.current.webhooks;
  try {
    const { statusCode, body } = await request(webhookUrl, {
      method: 'POST',
      headers: headersOf(sandbox, webhook.authorised === 1),
      body: webhook.body,
      signal: AbortSignal.any([AbortSignal.timeout(timeout_ms), sandbox.signal]),
    });
    await body.dump({ limit: 65_536 });
    return { delivered: statusCode >= 200 && statusCode < 300, answer: String(statusCode) };
  } catch (error) {
    const answer = error instanceof Error ? error.message : String(error);
    return { delivered: false, answer: answer.slice(0, ANSWER_LENGTH_MAX) };
  }
}

function headersOf({ settings, switches }: Sandbox, authorised: boolean): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json', 'user-agent': 'confere-sandbox' };
  if (authorised) {
    if (settings.webhookToken !== undefined) headers.authorization = `Bearer ${settings.webhookToken}`;
  } else if (switches.current.webhooks.forge_with === 'wrong_token')
    headers.authorization = 'Bearer guessed-by-a-stranger';
  return headers;
}
