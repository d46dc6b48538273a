import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../context.ts';
import { countWebhooks, type WebhookCounts } from './count-webhooks.ts';
import type { FlushSignal } from './run-webhooks.ts';

const POLL_MS = 20;

/**
 * Sends all webhooks stored by now, also late ones (after the others), and waits up to `timeoutMs` until each is delivered or
 * has failed for good. Webhooks between two attempts keep their times; `due` counts the remaining ones.
 */
export async function flushWebhooks(
  sandbox: Sandbox,
  flushSignal: FlushSignal,
  timeoutMs: number,
): Promise<WebhookCounts> {
  const deadline = sandbox.now() + timeoutMs;
  const { id: lastId, dueMs } = await readLast(sandbox);
  while (sandbox.now() < deadline && !sandbox.signal.aborted && (await countDue(sandbox, lastId)) > 0) {
    // set in each round: another flush that ends meanwhile resets it
    flushSignal.untilMs = Math.max(flushSignal.untilMs, dueMs);
    sandbox.wake.webhooks();
    await sleep(POLL_MS);
  }
  flushSignal.untilMs = 0;
  return countWebhooks(sandbox.db);
}

async function readLast({ db }: Sandbox): Promise<{ id: number; dueMs: number }> {
  const last = await db
    .selectFrom('webhooks')
    .select((eb) => [eb.fn.max('id').as('id'), eb.fn.max('due_at').as('due_at')])
    .where('state', '=', 'due')
    .executeTakeFirst();
  return { id: Number(last?.id ?? 0), dueMs: last?.due_at?.getTime() ?? 0 };
}

async function countDue({ db }: Sandbox, lastId: number): Promise<number> {
  const { due } = await db
    .selectFrom('webhooks')
    .select((eb) => eb.fn.countAll<number>().as('due'))
    .where('state', '=', 'due')
    .where('id', '<=', lastId)
    .executeTakeFirstOrThrow();
  return due;
}
