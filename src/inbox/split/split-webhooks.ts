import { createHash } from 'node:crypto';
import type { Insertable, Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { insertReturning } from '../../database/insert-returning.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { describeError } from '../../log.ts';
import { CLAIM_COLUMNS, type ClaimedItem, newLease, toClaimedItem } from '../items/claim-items.ts';
import type { ItemKey } from '../items/fetch-transaction.ts';
import { findKnownKeys, formatItemKey } from '../items/find-known-keys.ts';
import { raiseQuarantine } from '../items/quarantine.ts';
import { redactArrivals } from '../items/redact-arrivals.ts';
import { checkBody } from '../receive/check-body.ts';
import { hasKey, ITEMS_MAX, parseItems, type WebhookItem } from '../receive/parse-items.ts';
import { FIRST_IDS } from '../receive/plan-shows.ts';
import type { DeferredWebhooks } from './defer-webhooks.ts';
import { isolateWebhooks, NOT_TAKEN_APART, type SplitCallbacks, type SplitTogether } from './isolate-webhooks.ts';

const WEBHOOKS_MAX = 200;
const ITEMS_AN_INSERT = 500;
/** What waits for the list waits so long at least, also where its body comes out of the spool after its grace. */
const LIST_WAIT_MS_MIN = 60_000;

type WebhookRow = {
  seq: number;
  hash: Buffer;
  body: Buffer;
  received_at: Date;
  repeats: number;
  source_address: string;
};
type Apart = { row: WebhookRow; items: WebhookItem[]; reason: string | null };

/**
 * Takes committed webhooks apart into items, each with a fate of its own; an item without a usable key is quarantined,
 * its siblings go on. Each webhook is taken by one process only. One that can't be taken apart is quarantined, alone.
 * @param room so many of the new items are claimed in the same transaction, for whoever looks at once.
 * @param hands `putOff`: what could not be taken apart just now, and is left for a while; without it, that is thrown.
 *   `onClaimed`: is told what was claimed, once that is committed, also where it throws after that.
 * @returns whether there may be more.
 */
export async function splitWebhooks(
  context: Context,
  room: number,
  hands: SplitCallbacks = {},
): Promise<{ more: boolean }> {
  let tried: number[] = [];
  try {
    const onSelected = (seqs: number[]): void => {
      tried = seqs;
    };
    const { count, claimed } = await takeTogether(context, room, { putOff: hands.deferred, onSelected });
    hands.onClaimed?.(claimed);
    return { more: count === WEBHOOKS_MAX };
  } catch (error) {
    const take: SplitTogether = (seqs, left) => takeTogether(context, left, { only: seqs });
    await isolateWebhooks(context, { seqs: tried, slots: room, error, ...hands }, take);
    return { more: true };
  }
}

type Taken = { count: number; items: number; claimed: ClaimedItem[] };

/** `only` of these, else the oldest that wait; `onSelected` is told which, before anything is done to them. */
type Selection = { only?: number[]; putOff?: DeferredWebhooks | undefined; onSelected?: (seqs: number[]) => void };

/** In one transaction: all of them, or none. */
async function takeTogether(context: Context, room: number, { only, putOff, onSelected }: Selection): Promise<Taken> {
  return await transact(context.db, async (trx) => {
    const leftOut = putOff?.listExcluded() ?? [];
    const rows = await trx
      .selectFrom('webhooks')
      .select(['seq', 'hash', 'body', 'received_at', 'repeats', 'source_address'])
      // asked along: what is forgotten from here on is met in these rows by whoever forgets it
      .select((eb) => eb.exists(eb.selectFrom('forgotten_people').select('document_hash')).as('anyone_forgotten'))
      .where('state', '=', 'received')
      .$if(only !== undefined, (query) => query.where('seq', 'in', only ?? []))
      .$if(leftOut.length > 0, (query) => query.where('seq', 'not in', leftOut))
      .orderBy('seq')
      .limit(WEBHOOKS_MAX)
      .forUpdate()
      .skipLocked()
      .execute();
    const seqs = rows.map((row) => row.seq);
    onSelected?.(seqs);
    if (rows.length === 0 || putOff?.includesAll(seqs)) return { count: 0, items: 0, claimed: [] };
    const taken = rows.map((row) => takeOneApart(context, row));
    const items = taken.flatMap((one) => one.items);
    const keyed = taken.flatMap((one) => one.items.slice(0, FIRST_IDS)).filter(hasKey).length;
    // all or none of them: what is claimed here is what this process looks at next
    const claims = keyed > 0 && keyed <= room && items.length <= ITEMS_AN_INSERT;
    const claimed = await insertItems(context, trx, taken, claims);
    await moveWebhooks(trx, taken);
    const quarantined = taken.flatMap(({ row, reason }) => (reason ? [{ seq: row.seq, reason }] : []));
    await raiseQuarantine(context, trx, quarantined);
    if (rows.some((row) => row.anyone_forgotten)) await redactArrivals(context, trx, seqs);
    return { count: rows.length, items: items.length, claimed };
  });
}

/** What can't even be read fails here by itself, before the database has a part in it. */
function takeOneApart(context: Context, row: WebhookRow): Apart {
  try {
    const { defect: fault, value } = checkBody(row.body);
    if (fault) return { row, items: [], reason: fault };
    const items = parseItems(value);
    if (items.length > ITEMS_MAX) return { row, items: [], reason: 'too_many_items' };
    return { row, items, reason: items.every(hasKey) ? null : 'no_key' };
  } catch (error) {
    context.log.error({ webhook: row.seq, error: describeError(error) }, 'a webhook could not be taken apart');
    return { row, items: [], reason: NOT_TAKEN_APART };
  }
}

/** @returns those that are claimed. */
async function insertItems(
  context: Context,
  trx: Transaction<Database>,
  taken: Apart[],
  claims: boolean,
): Promise<ClaimedItem[]> {
  const lease = claims ? newLease(context) : { lease_holder: null, lease_until: null };
  const known = await findKnownKeys(context, trx, taken.flatMap(({ items }) => items.slice(FIRST_IDS)).map(keyOf));
  const firstLookAt = (row: WebhookRow, item: WebhookItem, position: number): Date =>
    position < FIRST_IDS || known.has(formatItemKey(keyOf(item))) ? row.received_at : endOfWait(context, row);
  const values = taken.flatMap(({ row, items }) =>
    items.map((item, position) => ({
      webhook_seq: row.seq,
      position,
      received_at: row.received_at,
      transaction_id: item.transactionId,
      reference: item.reference,
      extra_hash: keyOf(item).extraHash,
      claimed_status: item.claimedStatus,
      claimed_amount_cents: item.claimedAmountCents,
      ...(hasKey(item)
        ? { state: 'pending', reason: null, next_look_at: firstLookAt(row, item, position) }
        : { state: 'quarantined', reason: 'no_key', next_look_at: null }),
      ...(hasKey(item) && position < FIRST_IDS ? lease : { lease_holder: null, lease_until: null }),
    })),
  );
  if (claims) return await insertClaimed(context, trx, taken, values);
  for (let start = 0; start < values.length; start += ITEMS_AN_INSERT) {
    await trx
      .insertInto('webhook_items')
      .values(values.slice(start, start + ITEMS_AN_INSERT))
      .execute();
  }
  return [];
}

function keyOf({ transactionId, reference, extra }: WebhookItem): ItemKey {
  return { transactionId, reference, extraHash: extra === null ? null : createHash('sha256').update(extra).digest() };
}

/** What a body names beyond its first ids, and the ledger does not know, waits for the list until then. */
function endOfWait({ clock, config }: Context, row: WebhookRow): Date {
  return new Date(Math.max(row.received_at.getTime() + config.WEBHOOK_GRACE, clock.now().getTime() + LIST_WAIT_MS_MIN));
}

async function insertClaimed(
  context: Context,
  trx: Transaction<Database>,
  taken: Apart[],
  values: Insertable<Database['webhook_items']>[],
): Promise<ClaimedItem[]> {
  const webhooks = new Map(taken.map(({ row, items }) => [row.seq, { ...row, items: items.length }]));
  const columns = [...CLAIM_COLUMNS, 'state'] as const;
  const insert = trx.insertInto('webhook_items').values(values);
  const rows = await insertReturning(context, trx, insert, [...columns], () =>
    trx
      .selectFrom('webhook_items')
      .select(columns)
      .where('webhook_seq', 'in', [...webhooks.keys()])
      .orderBy('seq')
      .execute(),
  );
  return rows
    .filter((row) => row.state === 'pending' && row.position < FIRST_IDS)
    .map((row) => toClaimedItem(row, webhooks));
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
