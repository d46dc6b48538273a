import type { Selectable } from 'kysely';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { InvariantError } from '../../domain/errors.ts';
import { append, seqsOf } from '../../domain/lists.ts';
import { isTracing } from '../../tracing/in-span.ts';
import { nameSender } from '../receive/name-sender.ts';
import { FIRST_IDS } from '../receive/plan-shows.ts';
import { readTraceparent } from './trace-webhook.ts';

export const LEASE_MS = 20_000;
/** Limit of further due items of the claimed transactions that are claimed with them. */
const SIBLINGS_MAX = 1_000;
const FIRST_POSITIONS = Array.from({ length: FIRST_IDS }, (_, position) => position);

export type ClaimedItem = {
  seq: number;
  webhookSeq: number;
  webhookHash: Buffer;
  /** Repeats of its webhook when the item was claimed. */
  webhookRepeats: number;
  receivedAt: Date;
  transactionId: string | null;
  reference: string | null;
  extraHash: Buffer | null;
  /** Its position in the body. */
  position: number;
  /** Fetches that the provider answered with an unknown id. */
  misses: number;
  /** Whether a person requested this fetch. */
  granted: boolean;
  /** The sender of its webhook, as `nameSender` names it. */
  sender: string;
  claimedStatus: string | null;
  claimedAmountCents: bigint | null;
  /** Fetches so far. */
  fetches: number;
  fetchedAt: Date | null;
  /** How many items its body has. */
  itemsInWebhook: number;
  /** The trace context of its webhook's receipt. */
  traceparent: string | undefined;
};

/**
 * Claims due items under a lease of LEASE_MS, each with the other due items of its transaction. It commits before the
 * provider is asked: no lock is held over the network. The lease is renewed during the fetch, and expires if the process
 * dies. Where more items are due than `itemsMax`, the first ids of bodies without a fetch come first: a genuine webhook
 * must not wait behind items that were fetched before or wait for the list.
 *
 * An item without its webhook is logged and left out, so that it delays no other item.
 */
export async function claimItems(context: Context, itemsMax: number): Promise<ClaimedItem[]> {
  const now = context.clock.now();
  return await transact(context.db, async (trx) => {
    const due = () => selectDueItems(trx, now).select(CLAIM_COLUMNS).forUpdate().skipLocked();
    const oldest = await due().orderBy('next_look_at').limit(itemsMax).execute();
    if (oldest.length === 0) return [];
    const isAll = oldest.length < itemsMax;
    const fresh = isAll
      ? []
      : await due()
          .where('looks', '=', 0)
          // uses the index: equal positions, then a range of times
          .where('position', 'in', FIRST_POSITIONS)
          .orderBy('next_look_at')
          .limit(itemsMax)
          .execute();
    const isFresh = new Set(fresh.map(({ seq }) => seq));
    const rows = [...fresh, ...oldest.filter(({ seq }) => !isFresh.has(seq))].slice(0, itemsMax);
    if (!isAll) {
      // more items are due than claimed: other items of these transactions need no fetch of their own
      const ids = [...new Set(rows.flatMap((row) => row.transaction_id ?? []))];
      const seqs = rows.map((row) => row.seq);
      const siblings = due().where('transaction_id', 'in', ids).where('seq', 'not in', seqs).limit(SIBLINGS_MAX);
      if (ids.length > 0) append(rows, await siblings.execute());
    }
    await trx.updateTable('webhook_items').set(newLease(context)).where('seq', 'in', seqsOf(rows)).execute();
    const webhooks = await trx
      .selectFrom('webhooks')
      .select(['seq', 'hash', 'repeats', 'source_address', 'items'])
      .$if(isTracing(), (query) => query.select('headers'))
      .where('seq', 'in', [...new Set(rows.map((row) => row.webhook_seq))])
      .execute();
    const bySeq = new Map(webhooks.map((row) => [row.seq, row]));
    return rows.flatMap((row) => {
      if (bySeq.has(row.webhook_seq)) return [toClaimedItem(row, bySeq)];
      const missing = { item: row.seq, webhook: row.webhook_seq };
      context.log.error(
        missing,
        'the webhook of an item is gone; the item is not verified, and is claimed again in 20 s',
      );
      return [];
    });
  });
}

/**
 * The bytes of a lease's holder: those of `resolved_id` and `looked_at`, which take their place. A row that grows splits its page: pages
 * of this table were two thirds full.
 */
const HOLDER_BYTES = 43;

export function newLease(context: Context): { lease_holder: string; lease_until: Date } {
  return { lease_holder: holderOf(context), lease_until: new Date(context.clock.now().getTime() + LEASE_MS) };
}

/** An item that nobody claimed yet, with the bytes for a claim: without `lease_until` it is no lease. */
export function noLease(context: Context): { lease_holder: string; lease_until: null } {
  return { lease_holder: holderOf(context), lease_until: null };
}

const holderOf = ({ holder }: Context): string => holder.padEnd(HOLDER_BYTES, '.');

/** The columns of a claimed item. */
export const CLAIM_COLUMNS = [
  ...(['seq', 'webhook_seq', 'received_at', 'transaction_id', 'reference', 'extra_hash'] as const),
  ...(['claimed_status', 'claimed_amount_cents', 'looks'] as const),
  ...(['position', 'misses', 'granted', 'looked_at'] as const),
] as const;

type ClaimableRow = Pick<Selectable<Database['webhook_items']>, (typeof CLAIM_COLUMNS)[number]>;

type WebhookRow = {
  hash: Buffer;
  repeats: number;
  source_address: string;
  items: number;
  headers?: string | undefined;
};

/** @param webhooks by row number. @throws InvariantError if the item's webhook is not among them. */
export function toClaimedItem(row: ClaimableRow, webhooks: Map<number, WebhookRow>): ClaimedItem {
  const webhook = webhooks.get(row.webhook_seq);
  if (!webhook) throw new InvariantError(`item ${row.seq} has no webhook ${row.webhook_seq}`);
  return {
    seq: row.seq,
    webhookSeq: row.webhook_seq,
    webhookHash: webhook.hash,
    webhookRepeats: webhook.repeats,
    receivedAt: row.received_at,
    transactionId: row.transaction_id,
    reference: row.reference,
    extraHash: row.extra_hash,
    position: row.position,
    misses: row.misses,
    granted: row.granted === 1,
    sender: nameSender(webhook.source_address),
    claimedStatus: row.claimed_status,
    claimedAmountCents: row.claimed_amount_cents,
    fetches: row.looks,
    fetchedAt: row.looked_at,
    itemsInWebhook: webhook.items,
    traceparent: readTraceparent(webhook.headers),
  };
}

/** Renews the leases of items in flight. */
export async function renewLeases(context: Context, seqs: number[]): Promise<void> {
  if (seqs.length === 0) return;
  await context.db
    .updateTable('webhook_items')
    .set({ lease_until: newLease(context).lease_until })
    .where('seq', 'in', seqs)
    .where('lease_holder', '=', holderOf(context))
    .execute();
}

/** Releases the leases of items that this process will not verify: another one claims them at once. */
export async function releaseLeases(context: Context, seqs: number[]): Promise<void> {
  await context.db
    .updateTable('webhook_items')
    .set(noLease(context))
    .where('seq', 'in', seqs)
    .where('state', '=', 'pending')
    .where('lease_holder', '=', holderOf(context))
    .execute();
}

/** How many items are due, counted up to `max`. */
export async function countDueItems(context: Context, max: number): Promise<number> {
  const rows = await selectDueItems(context.db, context.clock.now()).select('seq').limit(max).execute();
  return rows.length;
}

/** Items that may be claimed at `now`. */
export function selectDueItems(db: Reader, now: Date) {
  return db
    .selectFrom('webhook_items')
    .where('state', '=', 'pending')
    .where('next_look_at', '<=', now)
    .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<', now)]));
}
