import { sql, type Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { compileOnce } from '../../database/compile-once.ts';
import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { HOUR_MS } from '../../domain/calendar.ts';
import { raiseMismatches, reassignMismatch } from '../../mismatches/raise-mismatches.ts';
import { lockOpenMismatches, resolveMismatches } from '../../mismatches/resolve-mismatches.ts';
import { refuse } from '../../texts/refuse.ts';

/** Raises `webhook_quarantined`: one open mismatch for each reason and hour. It names the first webhook. */
export async function raiseQuarantine(
  context: Context,
  trx: Transaction<Database>,
  quarantined: { seq: number; reason: string }[],
): Promise<void> {
  const now = context.clock.now();
  const found = quarantined.map(({ seq, reason }) => ({
    kind: 'webhook_quarantined' as const,
    scope: quarantineScope(reason, now),
    webhookSeq: seq,
    actual: { reason },
  }));
  // of several mismatches with one scope raiseMismatches keeps the last
  await raiseMismatches(trx, found.toReversed(), now);
  if (found.length > 0) context.wakeUps.alerts.notify();
}

/**
 * Schedules a webhook's items for verification again, with any outcome so far. A webhook without a usable key, or with an
 * unreadable body, is split again: a newer version may be able to parse it. Each item gets one fetch beyond its schedule,
 * so that the person who asked sees the result soon.
 * @throws ConfereError `not_found`; `conflict` where it waits for its first fetch, or its body was dropped.
 */
export async function reprocessWebhook(context: Context, seq: number): Promise<void> {
  await transact(context.db, async (trx) => {
    const row = await trx
      .selectFrom('webhooks')
      .select(['state', 'dropped_at'])
      .where('seq', '=', seq)
      .forUpdate()
      .executeTakeFirst();
    if (!row) throw refuse('webhook_unknown');
    if (row.state === 'received') throw refuse('webhook_waiting');
    const keyed = await findKeyedItems(trx, seq);
    if (keyed.length === 0 && row.dropped_at) throw refuse('webhook_body_dropped');
    if (keyed.length === 0) {
      await trx.deleteFrom('webhook_items').where('webhook_seq', '=', seq).execute();
      await trx.updateTable('webhooks').set({ state: 'received', items: 0 }).where('seq', '=', seq).execute();
      return;
    }
    await trx
      .updateTable('webhook_items')
      .set({ state: 'pending', reason: null, next_look_at: context.clock.now(), granted: 1 })
      .where('seq', 'in', keyed)
      .execute();
    await trx.updateTable('webhooks').set({ state: 'pending', reason: null }).where('seq', '=', seq).execute();
  });
  context.wakeUps.inbox.notify();
}

/** A webhook's items with a usable key. */
async function findKeyedItems(trx: Transaction<Database>, webhookSeq: number): Promise<number[]> {
  const rows = await trx
    .selectFrom('webhook_items')
    .select('seq')
    .where('webhook_seq', '=', webhookSeq)
    .where((eb) =>
      eb.or([eb('transaction_id', 'is not', null), eb('reference', 'is not', null), eb('extra_hash', 'is not', null)]),
    )
    .execute();
  return rows.map((row) => row.seq);
}

/** A mismatch that names a webhook. */
export type Quarantine = { webhook_seq: number | null; scope: string };

/** Finds the open mismatches that name these webhooks. */
export async function findQuarantines(db: Reader, webhookSeqs: number[]): Promise<Quarantine[]> {
  return webhookSeqs.length === 0 ? [] : (await selectQuarantines(db, { webhookSeqs })).rows;
}

const selectQuarantines = compileOnce((db, { webhookSeqs }: { webhookSeqs: number[] }) =>
  db
    .selectFrom('mismatches')
    .select(['webhook_seq', 'scope'])
    .where('kind', '=', 'webhook_quarantined')
    .where('open_scope', 'is not', null)
    .where('webhook_seq', 'in', webhookSeqs),
);

/**
 * Resolves mismatches whose webhooks were applied after all. A mismatch that also stands for other webhooks of its reason and
 * hour is reassigned to the next of them.
 */
export async function resolveQuarantine(trx: Transaction<Database>, named: Quarantine[], now: Date): Promise<void> {
  if (named.length === 0) return;
  // locked before the next webhook is searched: one that is quarantined meanwhile is then read, or finds it resolved
  const rows = await lockOpenMismatches(
    trx,
    named.map(({ scope }) => ({ kind: 'webhook_quarantined', scope })),
  );
  const over: { kind: 'webhook_quarantined'; scope: string }[] = [];
  for (const { seq, scope } of rows) {
    const next = await findQuarantined(trx, scope);
    if (next === undefined) over.push({ kind: 'webhook_quarantined', scope });
    else await reassignMismatch(trx, seq, next);
  }
  await resolveMismatches(trx, over, 'reprocessed', now);
}

/**
 * The first webhook that is still quarantined for this reason since this hour. A webhook without a fetch has only its
 * receive time. It may have waited to be split, so it counts in each hour since.
 */
async function findQuarantined(trx: Transaction<Database>, scope: string): Promise<number | undefined> {
  const [reason = '', hour = ''] = scope.split(' ');
  const from = new Date(`${hour}:00:00.000Z`);
  const since = sql<Date>`COALESCE(webhook_items.looked_at, webhooks.received_at)`;
  const row = await trx
    .selectFrom('webhooks')
    .leftJoin('webhook_items', 'webhook_items.webhook_seq', 'webhooks.seq')
    .select('webhooks.seq')
    .where('webhooks.state', '=', 'quarantined')
    .where((eb) => eb.or([eb('webhook_items.reason', '=', reason), eb('webhooks.reason', '=', reason)]))
    .where((eb) => eb.or([eb('webhook_items.looked_at', '>=', from), eb('webhook_items.looked_at', 'is', null)]))
    .where(since, '<', new Date(from.getTime() + HOUR_MS))
    .orderBy('webhooks.seq')
    .limit(1)
    .executeTakeFirst();
  return row?.seq;
}

function quarantineScope(reason: string, now: Date): string {
  return `${reason} ${now.toISOString().slice(0, 13)}`;
}
