import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../context.ts';
import { countWebhooks, type WebhookCounts } from './count-webhooks.ts';
import type { FlushSignal } from './run-webhooks.ts';

const LOOK_EVERY_MS = 20;

/**
 * Sends all that is stored by now, late ones too (still after the others), and waits until each was delivered or has
 * failed for good, at most `timeoutMs`. Those between two tries keep their times: `due` counts what is left.
 */
export async function flushWebhooks(sandbox: Sandbox, hurry: FlushSignal, timeoutMs: number): Promise<WebhookCounts> {
  const deadline = sandbox.now() + timeoutMs;
  const { id: lastId, dueMs } = await readLast(sandbox);
  while (sandbox.now() < deadline && !sandbox.signal.aborted && (await countDue(sandbox, lastId)) > 0) {
    // said again each time: another flush that ends meanwhile takes the hurry away
    hurry.untilMs = Math.max(hurry.untilMs, dueMs);
    sandbox.wake.webhooks();
    await sleep(LOOK_EVERY_MS);
  }
  hurry.untilMs = 0;
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
