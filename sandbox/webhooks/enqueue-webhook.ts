import type { Sandbox } from '../context.ts';
import type { DatabaseTransaction, Fate, NewWebhookRow, StoredTransaction } from '../store/tables.ts';
import { composePayload, type StatusChange } from './compose-payload.ts';
import type { WebhookFate } from './decide-fate.ts';

/** Delay of a repeat after the first webhook. */
const REPEAT_AFTER_MS = 300;

/**
 * Stores the webhook of a change, in the database transaction of the change. A lost one is stored but never sent, a
 * repeated one is two rows with the same bytes, a forged one claims a false status.
 */
export async function enqueueWebhook(
  sandbox: Sandbox,
  trx: DatabaseTransaction,
  transaction: StoredTransaction,
  change: StatusChange,
  fate: WebhookFate,
): Promise<void> {
  const dueMs = sandbox.now() + fate.delayMs;
  const rows = makeWebhookRows(sandbox, transaction, change, fate.fate, dueMs);
  if (fate.forged) rows.push(makeForgedWebhook(sandbox, transaction, dueMs));
  await trx.insertInto('webhooks').values(rows).execute();
}

/** Makes the rows of one webhook: two if it is repeated. */
export function makeWebhookRows(
  sandbox: Sandbox,
  transaction: StoredTransaction,
  change: StatusChange,
  fate: Fate,
  dueMs: number,
): NewWebhookRow[] {
  const { shape } = sandbox.switches.current.webhooks;
  const first = {
    transaction_id: transaction.id,
    status: change.status,
    fate,
    state: fate === 'lost' ? ('lost' as const) : ('due' as const),
    body: composePayload(transaction, change, sandbox.nextNotificationId(), shape),
    authorised: 1,
    created_at: new Date(sandbox.now()),
    due_at: new Date(dueMs),
  };
  if (fate !== 'repeated') return [first];
  return [first, { ...first, fate: 'repeat', due_at: new Date(dueMs + REPEAT_AFTER_MS) }];
}

/** Makes a third party's webhook: well formed, with a status that the transaction never had. */
export function makeForgedWebhook(sandbox: Sandbox, transaction: StoredTransaction, dueMs: number): NewWebhookRow {
  const past = new Set(transaction.events.map(({ status }) => status));
  const claim = ['paid', 'refund', 'canceled', 'denied'].find((status) => !past.has(status)) ?? 'expired';
  const atWall = sandbox.clock.toWall(sandbox.now());
  const [row] = makeWebhookRows(sandbox, transaction, { status: claim, atWall }, 'forged', dueMs);
  if (row === undefined) throw new Error('a webhook has at least one row');
  return { ...row, authorised: sandbox.switches.current.webhooks.forge_with === 'token' ? 1 : 0 };
}
