import type { Sandbox } from '../context.ts';
import { runLoop } from '../run-loop.ts';
import { sendWebhook } from './send-webhook.ts';

const BATCH = 256;
const IN_PARALLEL = 16;
const POLL_MS = 250;

/** Webhooks due up to `untilMs` are sent at once, before they are due: see flush-webhooks.ts. */
export type FlushSignal = { untilMs: number };

/**
 * Sends due webhooks, the oldest first, until the sandbox ends. Webhooks of one transaction are sent in order, IN_PARALLEL
 * transactions at a time.
 */
export function runWebhooks(sandbox: Sandbox, flushSignal: FlushSignal): Promise<void> {
  return runLoop(
    sandbox,
    POLL_MS,
    (wake) => {
      sandbox.wake.webhooks = wake;
    },
    () => sendDue(sandbox, flushSignal),
  );
}

type DueWebhook = { id: number; transaction_id: string; body: string; authorised: number; attempts: number };

/** Sends a batch. @returns true if there may be more. */
async function sendDue(sandbox: Sandbox, flushSignal: FlushSignal): Promise<boolean> {
  if (sandbox.settings.webhookUrl === undefined) return false;
  const now = new Date(sandbox.now());
  const due = await sandbox.db
    .selectFrom('webhooks')
    .select(['id', 'transaction_id', 'body', 'authorised', 'attempts'])
    .where('state', '=', 'due')
    .where((eb) =>
      eb.or([
        eb('due_at', '<=', now),
        eb.and([eb('attempts', '=', 0), eb('due_at', '<=', new Date(flushSignal.untilMs))]),
      ]),
    )
    .orderBy('due_at')
    .orderBy('id')
    .limit(BATCH)
    .execute();
  const queue = [...Map.groupBy(due, (webhook) => webhook.transaction_id).values()].reverse();
  await Promise.all(
    Array.from({ length: IN_PARALLEL }, async () => {
      for (let list = queue.pop(); list !== undefined && !sandbox.signal.aborted; list = queue.pop()) {
        for (const webhook of list) await sendOnce(sandbox, webhook);
      }
    }),
  );
  return due.length === BATCH;
}

async function sendOnce(sandbox: Sandbox, webhook: DueWebhook): Promise<void> {
  const { delivered, answer } = await sendWebhook(sandbox, webhook);
  // aborted because the sandbox ends: it does not count as an attempt, and the next start sends it
  if (!delivered && sandbox.signal.aborted) return;
  const nowMs = sandbox.now();
  const attempts = webhook.attempts + 1;
  const waitMs = sandbox.switches.current.webhooks.retry_after_ms[attempts - 1];
  const ended = { ended_at: new Date(nowMs) };
  const outcome = delivered
    ? { state: 'delivered' as const, ...ended }
    : waitMs === undefined
      ? { state: 'failed' as const, ...ended }
      : { due_at: new Date(nowMs + waitMs) };
  await sandbox.db
    .updateTable('webhooks')
    .set({ attempts, answer, ...outcome })
    .where('id', '=', webhook.id)
    .execute();
}
