import type { Sandbox } from '../context.ts';
import type { DatabaseTransaction, Fate, NewWebhookRow, StoredTransaction } from '../store/tables.ts';
import { composePayload, type StatusChange } from './compose-payload.ts';
import type { WebhookFate } from './decide-fate.ts';

/** So long after the first a repeat follows. */
const REPEAT_AFTER_MS = 300;

/**
 * Stores the webhook of a change, in the database transaction that made the change, with all that befalls it: a lost
 * one is kept but never sent, a repeated one is two rows of the same bytes, a forgery claims a status that is not so.
 */
export async function enqueueWebhook(
  sandbox: Sandbox,
  trx: DatabaseTransaction,
  transaction: StoredTransaction,
  change: StatusChange,
  destiny: WebhookFate,
): Promise<void> {
  const dueMs = sandbox.now() + destiny.delayMs;
  const rows = makeWebhookRows(sandbox, transaction, change, destiny.fate, dueMs);
  if (destiny.forged) rows.push(makeForgedWebhook(sandbox, transaction, dueMs));
  await trx.insertInto('webhooks').values(rows).execute();
}

/** The rows of one webhook: two where it is repeated. */
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

/** A third party's webhook about a transaction: well formed, and not true. It claims a status that never was. */
export function makeForgedWebhook(sandbox: Sandbox, transaction: StoredTransaction, dueMs: number): NewWebhookRow {
  const were = new Set(transaction.events.map(({ status }) => status));
  const claim = ['paid', 'refund', 'canceled', 'denied'].find((status) => !were.has(status)) ?? 'expired';
  const atWall = sandbox.clock.toWall(sandbox.now());
  const [row] = makeWebhookRows(sandbox, transaction, { status: claim, atWall }, 'forged', dueMs);
  if (row === undefined) throw new Error('a webhook is at least one row');
  return { ...row, authorised: sandbox.switches.current.webhooks.forge_with === 'token' ? 1 : 0 };
}
