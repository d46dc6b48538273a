import { createHash } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { checkBody } from './check-body.ts';
import { type ClaimedItem, leaseOf, selectClaimable, toClaimed } from './claim-items.ts';
import { raiseQuarantine } from './quarantine.ts';
import { ITEMS_MAX, readItems, type WebhookItem } from './read-items.ts';
import { redactArrived } from './redact-arrived.ts';

const WEBHOOKS_MAX = 200;
const ITEMS_AN_INSERT = 500;

type WebhookRow = { seq: number; hash: Buffer; body: Buffer; received_at: Date; repeats: number };
type Apart = { row: WebhookRow; items: WebhookItem[]; reason: string | null };

/**
 * Takes committed webhooks apart into items, each with a fate of its own; an item without a usable key is quarantined,
 * its siblings go on. Each webhook is taken by one process only.
 * @param room so many of the new items are claimed in the same transaction, for whoever looks at once.
 * @returns whether there may be more, and what was claimed.
 */
export async function takeApart(context: Context, room: number): Promise<{ more: boolean; claimed: ClaimedItem[] }> {
  return await transact(context.db, async (trx) => {
    const rows = await trx
      .selectFrom('webhooks')
      .select(['seq', 'hash', 'body', 'received_at', 'repeats'])
      .where('state', '=', 'received')
      .orderBy('seq')
      .limit(WEBHOOKS_MAX)
      .forUpdate()
      .skipLocked()
      .execute();
    if (rows.length === 0) return { more: false, claimed: [] };
    const taken = rows.map(takeOneApart);
    const keyed = taken.reduce((sum, { items }) => sum + items.filter(hasKey).length, 0);
    // all or none of them: what is claimed here is what this process looks at next
    const claims = keyed > 0 && keyed <= room;
    await insertItems(context, trx, taken, claims);
    await moveWebhooks(trx, taken);
    const quarantined = taken.flatMap(({ row, reason }) => (reason ? [{ seq: row.seq, reason }] : []));
    await raiseQuarantine(context, trx, quarantined);
    await redactArrived(
      context,
      trx,
      rows.map((row) => row.seq),
    );
    return { more: rows.length === WEBHOOKS_MAX, claimed: claims ? await readClaimed(trx, taken) : [] };
  });
}

function takeOneApart(row: WebhookRow): Apart {
  const { fault, value } = checkBody(row.body);
  const items = fault ? [] : readItems(value);
  if (fault) return { row, items: [], reason: fault };
  if (items.length > ITEMS_MAX) return { row, items: [], reason: 'too_many_items' };
  return { row, items, reason: items.every(hasKey) ? null : 'no_key' };
}

async function insertItems(
  context: Context,
  trx: Transaction<Database>,
  taken: Apart[],
  claims: boolean,
): Promise<void> {
  const lease = claims ? leaseOf(context) : { lease_holder: null, lease_until: null };
  const values = taken.flatMap(({ row, items }) =>
    items.map((item, position) => ({
      webhook_seq: row.seq,
      position,
      received_at: row.received_at,
      transaction_id: item.transactionId,
      reference: item.reference,
      extra_hash: item.extra === null ? null : createHash('sha256').update(item.extra).digest(),
      claimed_status: item.claimedStatus,
      claimed_amount_cents: item.claimedAmountCents,
      ...(hasKey(item)
        ? { state: 'pending', reason: null, next_look_at: row.received_at, ...lease }
        : { state: 'quarantined', reason: 'no_key', next_look_at: null, lease_holder: null, lease_until: null }),
    })),
  );
  for (let start = 0; start < values.length; start += ITEMS_AN_INSERT) {
    await trx
      .insertInto('webhook_items')
      .values(values.slice(start, start + ITEMS_AN_INSERT))
      .execute();
  }
}

/** One statement for all that change alike: nearly always that is all of them. */
async function moveWebhooks(trx: Transaction<Database>, taken: Apart[]): Promise<void> {
  const alike = Map.groupBy(taken, ({ items, reason }) => `${items.length} ${items.some(hasKey)} ${reason}`);
  for (const group of alike.values()) {
    const [{ items, reason } = { items: [], reason: null }] = group;
    const state = items.some(hasKey) ? 'pending' : 'quarantined';
    const seqs = group.map(({ row }) => row.seq);
    await trx.updateTable('webhooks').set({ state, reason, items: items.length }).where('seq', 'in', seqs).execute();
  }
}

async function readClaimed(trx: Transaction<Database>, taken: Apart[]): Promise<ClaimedItem[]> {
  const rows = await selectClaimable(trx)
    .where(
      'webhook_seq',
      'in',
      taken.map(({ row }) => row.seq),
    )
    .where('state', '=', 'pending')
    .orderBy('seq')
    .execute();
  const webhooks = new Map(taken.map(({ row }) => [row.seq, row]));
  return rows.map((row) => toClaimed(row, webhooks));
}

function hasKey(item: WebhookItem): boolean {
  return item.transactionId !== null || item.reference !== null || item.extra !== null;
}
