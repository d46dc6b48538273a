import { sql, type Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { caseBySeq } from '../../database/case-by-seq.ts';
import { compileOnce } from '../../database/compile-once.ts';
import { runTogether } from '../../database/run-together.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { append, seqsOf } from '../../domain/lists.ts';
import type { Companion } from '../../ledger/apply/apply-observations.ts';
import { lockTransactions } from '../../ledger/apply/lock-transactions.ts';
import { itemsVerified, verificationSeconds } from '../../metrics/metrics.ts';
import { secondsSince } from '../../metrics/reading.ts';
import type { ClaimedItem } from '../items/claim-items.ts';
import type { FetchResult } from '../items/fetch-transaction.ts';
import { findQuarantines, type Quarantine, raiseQuarantine, resolveQuarantine } from '../items/quarantine.ts';
import { redactArrivals } from '../items/redact-arrivals.ts';
import { REFETCH_AFTER_S } from '../receive/insert-arrivals.ts';
import { classifyItem, type ItemOutcome } from './classify-item.ts';
import { raiseContradictions } from './raise-contradictions.ts';

/** Items of one key, the result of their fetch, and the sender that was charged for it. */
export type ItemFetch = { items: ClaimedItem[]; result: FetchResult; chargedSender?: string | undefined };

/** Writes the outcomes of items after a fetch, in a transaction of their own. */
export async function recordOutcomes(context: Context, fetches: ItemFetch[]): Promise<void> {
  const outcomes = await transact(
    context.ledgerDb,
    async (trx) => {
      const opened = openOutcomes(context, fetches);
      await opened.lock(trx);
      await opened.write(trx);
      return opened;
    },
    { retryDuplicates: true },
  );
  outcomes.committed();
}

/**
 * The outcomes of items after a fetch, to be written in one transaction with the contradictions and quarantines that follow,
 * and with the final state of webhooks whose last item this was: mostly in the transaction that books what the fetch showed.
 */
export function openOutcomes(context: Context, fetches: ItemFetch[]): Companion {
  const now = context.clock.now();
  const grace = context.config.WEBHOOK_GRACE;
  const outcomes = fetches
    .flatMap(({ items, result }) =>
      items.map((item) => ({ item, outcome: classifyItem(item, result, now, grace), result: result.kind })),
    )
    .sort((a, b) => a.item.seq - b.item.seq);
  const webhookSeqs = outcomes.map(({ item }) => item.webhookSeq);
  const contradicted = outcomes.flatMap(({ item: { webhookSeq }, outcome }) =>
    outcome.kind === 'applied' ? outcome.contradictions.map((one) => ({ ...one, webhookSeq })) : [],
  );
  const { single = [], several = [] } = Object.groupBy(outcomes, ({ item }) =>
    item.itemsInWebhook === 1 ? 'single' : 'several',
  );
  let webhooks: Awaited<ReturnType<typeof lockWebhooks>> = new Map();
  let payments: Awaited<ReturnType<typeof lockTransactions>> = new Map();
  let named: Quarantine[] = [];

  async function lock(trx: Transaction<Database>): Promise<void> {
    const ids = contradicted.map(({ id }) => id);
    if (ids.length > 0) payments = await lockTransactions(trx, ids);
    const applied = outcomes.filter(({ outcome }) => outcome.kind === 'applied').map(({ item }) => item.webhookSeq);
    [webhooks, named] = await runTogether(trx, [
      (together) => lockWebhooks(together, webhookSeqs),
      // sent after the lock: a mismatch of another outcome of these webhooks is then read
      (together) => findQuarantines(together, applied),
    ]);
  }

  async function write(trx: Transaction<Database>): Promise<void> {
    const repeated = outcomes
      .filter(({ result }) => result === 'row')
      .map(({ item }) => item)
      .filter((item) => (webhooks.get(item.webhookSeq)?.repeats ?? 0) > item.webhookRepeats);
    const [, closed] = await runTogether(trx, [
      (together) => writeItems(together, outcomes, repeated, now),
      // their states are known: these items are their webhooks' only ones
      (together) => closeWebhooks(together, listStates(single, new Set(repeated))),
    ]);
    await raiseContradictions(trx, contradicted, payments, now);
    const quarantined = outcomes.flatMap(({ item, outcome }) =>
      outcome.kind === 'quarantined' ? [{ seq: item.webhookSeq, reason: outcome.reason }] : [],
    );
    await raiseQuarantine(context, trx, quarantined);
    if (several.length > 0) append(closed, await closeWebhooks(trx, await readStates(trx, several)));
    const ended = named.filter((one) => closed.includes(one.webhook_seq ?? 0));
    await resolveQuarantine(trx, ended, now);
    const isAnyoneForgotten = [...webhooks.values()].some((row) => row.anyone_forgotten);
    if (isAnyoneForgotten) await redactArrivals(context, trx, webhookSeqs);
  }

  function committed(): void {
    for (const { item, outcome } of outcomes) {
      const isContradicted = outcome.kind === 'applied' && outcome.contradictions.length > 0;
      itemsVerified.inc({ outcome: isContradicted ? 'contradicted' : outcome.kind });
      // later fetches are repeats, or wait for the provider to know the transaction
      if (item.fetches === 0) verificationSeconds.observe(secondsSince(item.receivedAt, now));
    }
  }

  return { lock, write, committed };
}

type FetchedItem = { item: ClaimedItem; outcome: ItemOutcome; result: FetchResult['kind'] };

/**
 * Locks webhooks: two items of one webhook that end at once would each see the other as pending, and neither would close
 * it. Locked before the items; every writer that reopens items keeps this order.
 * @returns by seq, with whether anyone was forgotten: their bodies were committed before this reads it.
 */
export async function lockWebhooks(trx: Transaction<Database>, webhookSeqs: number[]) {
  const { rows } = await selectLocked(trx, { seqs: [...new Set(webhookSeqs)] });
  return new Map(rows.map((row) => [row.seq, row]));
}

const selectLocked = compileOnce((db, { seqs }: { seqs: number[] }) =>
  db
    .selectFrom('webhooks')
    .select(['seq', 'repeats'])
    .select((eb) => eb.exists(eb.selectFrom('forgotten_people').select('document_hash')).as('anyone_forgotten'))
    .where('seq', 'in', seqs)
    .orderBy('seq')
    .forUpdate(),
);

/**
 * Schedules another fetch where the same bytes were received again after this fetch was sent: it proves nothing about
 * them. The next fetch follows the item's first one at once, and later ones after REFETCH_AFTER_S, for any number of
 * repeats. Where the provider does not know the transaction a repeat causes no fetch.
 */
async function refetchRepeated(trx: Transaction<Database>, items: ClaimedItem[], now: Date): Promise<void> {
  for (const [isFirst, some] of Map.groupBy(items, ({ fetches }) => fetches === 0)) {
    const at = new Date(now.getTime() + (isFirst ? 0 : REFETCH_AFTER_S * 1000));
    await trx
      .updateTable('webhook_items')
      .set({ next_look_at: sql`LEAST(COALESCE(next_look_at, ${at}), ${at})`, state: 'pending' })
      .where('seq', 'in', seqsOf(some))
      .execute();
  }
}

/** One statement for all items with the same outcome; then those that are to be fetched again. */
async function writeItems(
  trx: Transaction<Database>,
  outcomes: FetchedItem[],
  repeated: ClaimedItem[],
  now: Date,
): Promise<void> {
  const groups = Map.groupBy(outcomes, ({ outcome, result }) => {
    if (outcome.kind === 'quarantined') return `quarantined ${outcome.reason} ${result}`;
    return outcome.kind === 'applied' ? `applied ${outcome.contradictions.length > 0}` : `waiting ${result}`;
  });
  for (const group of groups.values()) {
    const missed = group[0]?.result === 'unknown' ? { misses: sql<number>`misses + 1` } : {};
    const ended = { lease_holder: null, lease_until: null, granted: 0, ...missed };
    await trx
      .updateTable('webhook_items')
      .set({ looked_at: now, looks: sql`looks + 1`, ...ended, ...toColumns(group) })
      .where(
        'seq',
        'in',
        group.map(({ item }) => item.seq),
      )
      .execute();
  }
  await refetchRepeated(trx, repeated, now);
}

/** The column values of items with the same outcome. */
function toColumns(group: FetchedItem[]) {
  const bySeq = <T>(value: (outcome: ItemOutcome) => Date | string | null) =>
    caseBySeq<T, FetchedItem>(
      group,
      ({ item }) => item.seq,
      ({ outcome }) => value(outcome),
    );
  const resolvedId = bySeq<string | null>((one) => (one.kind === 'quarantined' ? null : (one.id ?? null)));
  const outcome = group[0]?.outcome;
  if (outcome?.kind === 'waiting') {
    return {
      next_look_at: bySeq<Date>((one) => (one.kind === 'waiting' ? one.nextFetchAt : null)),
      resolved_id: sql<string | null>`COALESCE(${resolvedId}, resolved_id)`,
    };
  }
  if (outcome?.kind === 'quarantined') return { state: 'quarantined', reason: outcome.reason, next_look_at: null };
  return {
    ...{ state: 'applied', reason: null, next_look_at: null, resolved_id: resolvedId },
    contradicted: outcome && outcome.contradictions.length > 0 ? 1 : 0,
  };
}

type ItemState = { webhook_seq: number; state: string; reason: string | null };

/** The states that this transaction gives these items. */
function listStates(outcomes: FetchedItem[], repeated: Set<ClaimedItem>): ItemState[] {
  return outcomes.map(({ item, outcome }) => ({
    webhook_seq: item.webhookSeq,
    state: outcome.kind === 'waiting' || repeated.has(item) ? 'pending' : outcome.kind,
    reason: outcome.kind === 'quarantined' ? outcome.reason : null,
  }));
}

/** The states of all items of the webhooks of these. */
async function readStates(trx: Transaction<Database>, outcomes: FetchedItem[]): Promise<ItemState[]> {
  return await trx
    .selectFrom('webhook_items')
    .select(['webhook_seq', 'state', 'reason'])
    .where('webhook_seq', 'in', [...new Set(outcomes.map(({ item }) => item.webhookSeq))])
    .execute();
}

/** Closes webhooks whose items have all ended: quarantined if any item is, else applied. @returns those that are applied. */
async function closeWebhooks(trx: Transaction<Database>, rows: ItemState[]): Promise<number[]> {
  const ended = [...Map.groupBy(rows, (row) => row.webhook_seq)]
    .filter(([, items]) => items.every((item) => item.state !== 'pending'))
    .map(([seq, items]) => ({ seq, quarantined: items.find((item) => item.state === 'quarantined') }));
  for (const group of Map.groupBy(ended, ({ quarantined }) => quarantined && `${quarantined.reason}`).values()) {
    const quarantined = group[0]?.quarantined;
    const change = quarantined
      ? { state: 'quarantined', reason: quarantined.reason }
      : { state: 'applied', reason: null };
    const seqs = group.map(({ seq }) => seq);
    await updateWebhooks(trx, { ...change, seqs });
  }
  return ended.filter(({ quarantined }) => !quarantined).map(({ seq }) => seq);
}

const updateWebhooks = compileOnce(
  (db, { seqs, state, reason }: { seqs: number[]; state: string; reason: string | null }) =>
    db.updateTable('webhooks').set({ state, reason }).where('seq', 'in', seqs),
);
