import { createHash } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { checkBody } from './check-body.ts';
import { raiseQuarantine } from './quarantine.ts';
import { ITEMS_MAX, readItems, type WebhookItem } from './read-items.ts';

const WEBHOOKS_MAX = 200;

type WebhookRow = { seq: number; body: Buffer; received_at: Date; reason: string | null };

/**
 * Takes committed webhooks apart into items, each with a fate of its own; an item without a usable key is quarantined,
 * its siblings go on. Each webhook is taken by one process only.
 * @returns whether there may be more.
 */
export async function takeApart(context: Context): Promise<boolean> {
  const taken = await transact(context.db, async (trx) => {
    const rows = await trx
      .selectFrom('webhooks')
      .select(['seq', 'body', 'received_at', 'reason'])
      .where('state', '=', 'received')
      .orderBy('seq')
      .limit(WEBHOOKS_MAX)
      .forUpdate()
      .skipLocked()
      .execute();
    if (rows.length > 0) await writeItems(context, trx, rows);
    return rows.length;
  });
  return taken === WEBHOOKS_MAX;
}

async function writeItems(context: Context, trx: Transaction<Database>, rows: WebhookRow[]): Promise<void> {
  const pending: number[] = [];
  const quarantined: { seq: number; reason: string }[] = [];
  for (const row of rows) {
    const { fault, value } = checkBody(row.body);
    const items = fault ? [] : readItems(value);
    const reason = fault ?? (items.length > ITEMS_MAX ? 'too_many_items' : undefined);
    if (reason) quarantined.push({ seq: row.seq, reason });
    else {
      await insertItems(trx, row, items);
      if (items.some(hasKey)) pending.push(row.seq);
      if (!items.every(hasKey)) quarantined.push({ seq: row.seq, reason: 'no_key' });
      await trx.updateTable('webhooks').set({ items: items.length }).where('seq', '=', row.seq).execute();
    }
  }
  if (pending.length > 0) {
    await trx.updateTable('webhooks').set({ state: 'pending' }).where('seq', 'in', pending).execute();
  }
  for (const { seq, reason } of quarantined) {
    const state = pending.includes(seq) ? 'pending' : 'quarantined';
    await trx.updateTable('webhooks').set({ state, reason }).where('seq', '=', seq).execute();
  }
  await raiseQuarantine(context, trx, quarantined);
}

async function insertItems(trx: Transaction<Database>, row: WebhookRow, items: WebhookItem[]): Promise<void> {
  await trx
    .insertInto('webhook_items')
    .values(
      items.map((item, position) => ({
        webhook_seq: row.seq,
        position,
        received_at: row.received_at,
        transaction_id: item.transactionId,
        reference: item.reference,
        extra_hash: item.extra === null ? null : createHash('sha256').update(item.extra).digest(),
        claimed_status: item.claimedStatus,
        claimed_amount_cents: item.claimedAmountCents,
        state: hasKey(item) ? 'pending' : 'quarantined',
        reason: hasKey(item) ? null : 'no_key',
        next_look_at: hasKey(item) ? row.received_at : null,
      })),
    )
    .execute();
}

function hasKey(item: WebhookItem): boolean {
  return item.transactionId !== null || item.reference !== null || item.extra !== null;
}
