import type { Insertable, Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { insertReturning, insertRows } from '../../database/insert-returning.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { webhookIdOf } from '../../domain/ids.ts';
import { splitList } from '../../domain/lists.ts';
import { describeError } from '../../log.ts';
import { mapInTurns } from '../../runtime/take-turns.ts';
import { isTracing, recordSpan } from '../../tracing/in-span.ts';
import { CLAIM_COLUMNS, type ClaimedItem, newLease, noLease, toClaimedItem } from '../items/claim-items.ts';
import type { ItemKey } from '../items/fetch-transaction.ts';
import { findKnownKeys, formatItemKey } from '../items/find-known-keys.ts';
import { raiseQuarantine } from '../items/quarantine.ts';
import { redactArrivals } from '../items/redact-arrivals.ts';
import { readTraceparent } from '../items/trace-webhook.ts';
import { checkBody } from '../receive/check-body.ts';
import { hashExtra, itemColumns } from '../receive/item-columns.ts';
import { hasKey, ITEMS_MAX, parseItems, type WebhookItem } from '../receive/parse-items.ts';
import { FIRST_IDS } from '../receive/plan-shows.ts';
import type { DeferredWebhooks } from './defer-webhooks.ts';
import { type Isolated, isolateWebhooks, NOT_TAKEN_APART } from './isolate-webhooks.ts';

const WEBHOOKS_MAX = 200;
const ITEMS_AN_INSERT = 500;
/** Least wait for the list, also where a spooled body is written after its WEBHOOK_GRACE. */
const LIST_WAIT_MS_MIN = 60_000;

type WebhookRow = {
  seq: number;
  hash: Buffer;
  body: Buffer;
  received_at: Date;
  repeats: number;
  source_address: string;
  /** While tracing is on. */
  headers?: string | undefined;
};
type SplitWebhook = { row: WebhookRow; items: WebhookItem[]; reason: string | null };

/**
 * Splits committed webhooks into items. Each webhook is split by one process only. An item without a usable key is
 * quarantined, its siblings continue. A webhook that can't be split is quarantined alone.
 * @param slots limit of new items that are claimed in the same transaction, for the caller to verify at once.
 * @param deferred takes webhooks that can't be split just now; without it they make the split fail.
 * @returns the claimed items, whether more webhooks may wait, and the `failure` that stopped it. Items that were claimed
 *   before a failure are returned with it: they are under lease.
 */
export async function splitWebhooks(
  context: Context,
  slots: number,
  deferred?: DeferredWebhooks,
): Promise<Isolated & { more: boolean }> {
  const { rows, split, error } = await splitTogether(context, slots, { deferred });
  if (split) return { claimed: split.claimed, failure: undefined, more: split.webhooks.length === WEBHOOKS_MAX };
  const ids = new Map(rows.map((row) => [row.seq, webhookIdOf(row.hash)]));
  const failing = { seqs: [...ids.keys()], ids, slots, error, deferred };
  const isolated = await isolateWebhooks(context, failing, async (only, left) => {
    const one = await splitTogether(context, left, { only });
    if (one.split) return one.split;
    throw one.error;
  });
  return { ...isolated, more: isolated.failure === undefined };
}

type Split = { webhooks: SplitWebhook[]; items: number; claimed: ClaimedItem[] };
/** `only` these webhooks; else the oldest that wait, without deferred ones. */
type Selection = { only?: number[]; deferred?: DeferredWebhooks | undefined };

/** Splits all selected webhooks in one transaction, or none. @returns which were selected; `split` or the `error`. */
async function splitTogether(
  context: Context,
  slots: number,
  selection: Selection,
): Promise<{ rows: SelectedRow[]; split?: Split; error?: unknown }> {
  let rows: SelectedRow[] = [];
  const startMs = Date.now();
  try {
    const split = await transact(context.db, async (trx) => {
      rows = await selectWebhooks(trx, selection);
      const seqs = rows.map((row) => row.seq);
      if (rows.length === 0 || selection.deferred?.includesAll(seqs)) return { webhooks: [], items: 0, claimed: [] };
      return await splitRows(context, trx, rows, slots);
    });
    const webhooks = split.webhooks.map(({ row, items, reason }) => ({
      ...{ hash: row.hash, traceparent: readTraceparent(row.headers) },
      ...{ items: items.length, reason },
    }));
    reportSplit(context, webhooks, startMs);
    return { rows, split };
  } catch (error) {
    return { rows, error };
  }
}

type ReportedWebhook = { hash: Buffer; traceparent: string | undefined; items: number; reason: string | null };

/** After the commit: a debug line and a span for each webhook. */
export function reportSplit({ log }: Context, split: ReportedWebhook[], startMs: number): void {
  const isDebug = log.isLevelEnabled('debug');
  if (!isDebug && !isTracing()) return;
  for (const { hash, traceparent, items, reason } of split) {
    const webhook = webhookIdOf(hash);
    const attributes = { 'confere.webhook': webhook, 'confere.items': items };
    recordSpan('webhook.split', attributes, traceparent, startMs);
    if (isDebug) log.debug({ stage: 'parsed', webhook, items, reason }, 'webhook split into items');
  }
}

type SelectedRow = Awaited<ReturnType<typeof selectWebhooks>>[number];

async function selectWebhooks(trx: Transaction<Database>, { only, deferred }: Selection) {
  const excluded = deferred?.listExcluded() ?? [];
  return await trx
    .selectFrom('webhooks')
    .select(['seq', 'hash', 'body', 'received_at', 'repeats', 'source_address'])
    .$if(isTracing(), (query) => query.select('headers'))
    // in the same query: a person forgotten after it is redacted by the command itself, which waits for these row locks
    .select((eb) => eb.exists(eb.selectFrom('forgotten_people').select('document_hash')).as('anyone_forgotten'))
    .where('state', '=', 'received')
    .$if(only !== undefined, (query) => query.where('seq', 'in', only ?? []))
    .$if(excluded.length > 0, (query) => query.where('seq', 'not in', excluded))
    .orderBy('seq')
    .limit(WEBHOOKS_MAX)
    .forUpdate()
    .skipLocked()
    .execute();
}

async function splitRows(
  context: Context,
  trx: Transaction<Database>,
  rows: SelectedRow[],
  slots: number,
): Promise<Split> {
  const split = await mapInTurns(rows, (row) => splitOne(context, row));
  const items = split.flatMap((one) => one.items);
  const keyed = split.flatMap((one) => one.items.slice(0, FIRST_IDS)).filter(hasKey).length;
  // all or none: this process verifies next what it claims here
  const claims = keyed > 0 && keyed <= slots && items.length <= ITEMS_AN_INSERT;
  const claimed = await insertItems(context, trx, split, claims);
  await updateWebhooks(trx, split);
  const quarantined = split.flatMap(({ row, reason }) => (reason ? [{ seq: row.seq, reason }] : []));
  await raiseQuarantine(context, trx, quarantined);
  const seqs = rows.map((row) => row.seq);
  if (rows.some((row) => row.anyone_forgotten)) await redactArrivals(context, trx, seqs);
  return { webhooks: split, items: items.length, claimed };
}

/** A body that can't be parsed fails here, before the database has a part in it. */
function splitOne(context: Context, row: WebhookRow): SplitWebhook {
  try {
    const { defect, value } = checkBody(row.body);
    if (defect) return { row, items: [], reason: defect };
    const items = parseItems(value);
    if (items.length > ITEMS_MAX) return { row, items: [], reason: 'too_many_items' };
    return { row, items, reason: items.every(hasKey) ? null : 'no_key' };
  } catch (error) {
    const details = { webhook: webhookIdOf(row.hash), error: describeError(error) };
    context.log.error(details, 'parsing a webhook failed; it is quarantined');
    return { row, items: [], reason: NOT_TAKEN_APART };
  }
}

/** @returns the claimed items. */
async function insertItems(
  context: Context,
  trx: Transaction<Database>,
  split: SplitWebhook[],
  claims: boolean,
): Promise<ClaimedItem[]> {
  const lease = claims ? newLease(context) : noLease(context);
  const known = await findKnownKeys(context, trx, split.flatMap(({ items }) => items.slice(FIRST_IDS)).map(keyOf));
  const firstFetchAt = (row: WebhookRow, item: WebhookItem, position: number): Date =>
    position < FIRST_IDS || known.has(formatItemKey(keyOf(item))) ? row.received_at : endOfListWait(context, row);
  const values = split.flatMap(({ row, items }) =>
    items.map((item, position) => ({
      webhook_seq: row.seq,
      position,
      received_at: row.received_at,
      ...itemColumns(item),
      ...(hasKey(item)
        ? { state: 'pending', reason: null, next_look_at: firstFetchAt(row, item, position) }
        : { state: 'quarantined', reason: 'no_key', next_look_at: null }),
      ...(hasKey(item) && position < FIRST_IDS ? lease : { lease_holder: null, lease_until: null }),
    })),
  );
  if (claims) return await insertClaimed(context, trx, split, values);
  for (const some of splitList(values, ITEMS_AN_INSERT)) {
    await insertRows(trx, 'webhook_items', some);
  }
  return [];
}

function keyOf(item: WebhookItem): ItemKey {
  const { transactionId, reference } = item;
  return { transactionId, reference, extraHash: hashExtra(item) };
}

/** An item after its body's first ids, of a key that the ledger does not know, waits for the list until then. */
function endOfListWait({ clock, config }: Context, row: WebhookRow): Date {
  return new Date(Math.max(row.received_at.getTime() + config.WEBHOOK_GRACE, clock.now().getTime() + LIST_WAIT_MS_MIN));
}

async function insertClaimed(
  context: Context,
  trx: Transaction<Database>,
  split: SplitWebhook[],
  values: Insertable<Database['webhook_items']>[],
): Promise<ClaimedItem[]> {
  const webhooks = new Map(split.map(({ row, items }) => [row.seq, { ...row, items: items.length }]));
  const columns = [...CLAIM_COLUMNS, 'state'] as const;
  const insertion = { table: 'webhook_items', rows: values } as const;
  const rows = await insertReturning(context, trx, insertion, columns, () =>
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

/** One statement for all webhooks with the same outcome: mostly one statement in all. */
async function updateWebhooks(trx: Transaction<Database>, split: SplitWebhook[]): Promise<void> {
  const groups = Map.groupBy(split, ({ items, reason }) => `${items.length} ${items.some(hasKey)} ${reason}`);
  for (const group of groups.values()) {
    const [{ items, reason } = { items: [], reason: null }] = group;
    const state = items.some(hasKey) ? 'pending' : 'quarantined';
    const seqs = group.map(({ row }) => row.seq);
    await trx.updateTable('webhooks').set({ state, reason, items: items.length }).where('seq', 'in', seqs).execute();
  }
}
