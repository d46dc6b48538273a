import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../context.ts';
import { countWebhooks, type WebhookCounts } from './count-webhooks.ts';
import type { Hurry } from './run-webhooks.ts';

const LOOK_EVERY_MS = 20;

/**
 * Sends all that is stored, late ones too (still after the others), and waits until each was delivered or has failed
 * for good, at most `timeoutMs`. Those in between tries keep their times: `due` counts what is left.
 */
export async function flushWebhooks(sandbox: Sandbox, hurry: Hurry, timeoutMs: number): Promise<WebhookCounts> {
  const deadline = sandbox.now() + timeoutMs;
  const last = await sandbox.db
    .selectFrom('webhooks')
    .select((eb) => eb.fn.max('due_at').as('due_at'))
    .where('state', '=', 'due')
    .executeTakeFirst();
  hurry.untilMs = Math.max(hurry.untilMs, last?.due_at?.getTime() ?? 0);
  for (;;) {
    sandbox.wake.webhooks();
    const counts = await countWebhooks(sandbox.db);
    if (counts.due === 0 || sandbox.now() >= deadline || sandbox.signal.aborted) return counts;
    await sleep(LOOK_EVERY_MS);
  }
}
