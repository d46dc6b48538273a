import type { Sandbox } from '../context.ts';
import { runLoop } from '../run-loop.ts';
import { sendWebhook } from './send-webhook.ts';

const BATCH = 256;
const IN_PARALLEL = 16;
const LOOK_EVERY_MS = 250;

/** Webhooks due up to this instant are sent at once, though their time has not come: see flush-webhooks.ts. */
export type FlushSignal = { untilMs: number };

/**
 * Sends what is due, the oldest first, until the sandbox ends. The webhooks of one transaction leave one after the
 * other; transactions side by side, IN_PARALLEL at a time.
 */
export function runWebhooks(sandbox: Sandbox, hurry: FlushSignal): Promise<void> {
  return runLoop(
    sandbox,
    LOOK_EVERY_MS,
    (wake) => {
      sandbox.wake.webhooks = wake;
    },
    () => sendDue(sandbox, hurry),
  );
}

type DueWebhook = { id: number; transaction_id: string; body: string; authorised: number; attempts: number };

/** Sends a batch; true where there may be more. */
async function sendDue(sandbox: Sandbox, hurry: FlushSignal): Promise<boolean> {
  if (sandbox.settings.webhookUrl === undefined) return false;
  const now = new Date(sandbox.now());
  const due = await sandbox.db
    .selectFrom('webhooks')
    .select(['id', 'transaction_id', 'body', 'authorised', 'attempts'])
    .where('state', '=', 'due')
    .where((eb) =>
      eb.or([eb('due_at', '<=', now), eb.and([eb('attempts', '=', 0), eb('due_at', '<=', new Date(hurry.untilMs))])]),
    )
    .orderBy('due_at')
    .orderBy('id')
    .limit(BATCH)
    .execute();
  const lanes = [...Map.groupBy(due, (webhook) => webhook.transaction_id).values()].reverse();
  await Promise.all(
    Array.from({ length: IN_PARALLEL }, async () => {
      for (let lane = lanes.pop(); lane !== undefined && !sandbox.signal.aborted; lane = lanes.pop()) {
        for (const webhook of lane) await sendOnce(sandbox, webhook);
      }
    }),
  );
  return due.length === BATCH;
}

async function sendOnce(sandbox: Sandbox, webhook: DueWebhook): Promise<void> {
  const { delivered, answer } = await sendWebhook(sandbox, webhook);
  // Cut short by our own end: it was not tried, the next start sends it.
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
