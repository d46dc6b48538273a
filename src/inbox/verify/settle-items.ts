import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { inForce } from '../../database/in-force.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { describeStatus } from '../../domain/statuses.ts';
import { itemsVerified } from '../../metrics/metrics.ts';
import { raiseMismatches } from '../../mismatches/raise-mismatches.ts';
import type { ClaimedItem } from '../items/claim-items.ts';
import type { FetchResult } from '../items/fetch-transaction.ts';
import { raiseQuarantine, resolveQuarantine } from '../items/quarantine.ts';
import { redactArrivals } from '../items/redact-arrivals.ts';
import { REFETCH_AFTER_S } from '../receive/insert-arrivals.ts';
import { classifyItem, type ItemOutcome } from './classify-item.ts';

/** Items of one key, what a look found, and which sender paid for it. */
export type ItemFetch = { items: ClaimedItem[]; result: FetchResult; chargedSender?: string | undefined };

/**
 * Writes what became of items after a look, in one transaction: their fates, the contradictions and quarantines that
 * follow, and the end of webhooks whose last item this was.
 */
export async function settleItems(context: Context, looks: ItemFetch[]): Promise<void> {
  const now = context.clock.now();
  const grace = context.config.WEBHOOK_GRACE;
  const fates = looks
    .flatMap(({ items, result: found }) =>
      items.map((item) => ({ item, fate: classifyItem(item, found, now, grace), found: found.kind })),
    )
    .sort((a, b) => a.item.seq - b.item.seq);
  await transact(
    context.db,
    async (trx) => {
      const repeats = await lockWebhooks(
        trx,
        fates.map(({ item }) => item.webhookSeq),
      );
      await writeFates(trx, fates, now);
      const repeated = fates
        .filter(({ found }) => found === 'row')
        .filter(({ item }) => (repeats.get(item.webhookSeq) ?? 0) > item.webhookRepeats);
      await lookAgain(
        trx,
        repeated.map(({ item }) => item),
        now,
      );
      const contradicted = fates.flatMap(({ item, fate }) =>
        fate.kind === 'applied' && fate.contradiction ? [{ item, ...fate.contradiction }] : [],
      );
      const shownSince = await findShown(trx, contradicted);
      const seqs = await findSeqs(trx, contradicted);
      await raiseMismatches(
        trx,
        contradicted
          .filter(({ scope }) => !shownSince.has(scope))
          .map(({ item, scope, expected, actual, id, amountCents, reference }) => ({
            kind: 'webhook_contradiction',
            scope,
            ...seqs.get(id),
            transactionId: id,
            reference,
            amountCents,
            webhookSeq: item.webhookSeq,
            expected,
            actual,
          })),
        now,
      );
      const refused = fates.flatMap(({ item, fate }) =>
        fate.kind === 'quarantined' ? [{ seq: item.webhookSeq, reason: fate.reason }] : [],
      );
      await raiseQuarantine(context, trx, refused);
      await closeWebhooks(
        trx,
        fates.map(({ item }) => item.webhookSeq),
      );
      const applied = fates.filter(({ fate }) => fate.kind === 'applied').map(({ item }) => item.webhookSeq);
      await resolveQuarantine(trx, applied, now);
      await redactArrivals(
        context,
        trx,
        fates.map(({ item }) => item.webhookSeq),
      );
    },
    { retryDuplicates: true },
  );
  for (const { fate } of fates) {
    const contradicted = fate.kind === 'applied' && fate.contradiction !== undefined;
    itemsVerified.inc({ outcome: contradicted ? 'contradicted' : fate.kind });
  }
}

/** The row numbers of the transactions that these claims name, by id. */
async function findSeqs(
  trx: Transaction<Database>,
  claims: { id: string }[],
): Promise<Map<string, { transactionSeq: number }>> {
  if (claims.length === 0) return new Map();
  const ids = claims.map((claim) => claim.id);
  const rows = await trx.selectFrom('transactions').select(['id', 'seq']).where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, { transactionSeq: row.seq }]));
}

/** What these claims spoke of and the ledger holds by now: another look may have brought it since this one. */
async function findShown(trx: Transaction<Database>, claims: { id: string }[]): Promise<Set<string>> {
  if (claims.length === 0) return new Set();
  const rows = await trx
    .selectFrom('events')
    .innerJoin('transactions', 'transactions.seq', 'events.transaction_seq')
    .select(['transactions.id', 'events.status'])
    .where(
      'transactions.id',
      'in',
      claims.map((claim) => claim.id),
    )
    // one that a person agreed is none, or that gave way, shows nothing
    .where(inForce('events'), '=', 1)
    // nor does a row without a history, once histories were shown
    .where((eb) =>
      eb.or([
        eb('events.inferred', '=', 0),
        eb('transactions.ordered_at', 'is', null),
        eb.exists(
          eb
            .selectFrom('event_places')
            .select('event_places.seq')
            // by its index
            .whereRef('event_places.transaction_seq', '=', 'events.transaction_seq')
            .whereRef('event_places.event_seq', '=', 'events.seq'),
        ),
      ]),
    )
    .execute();
  return new Set(rows.map((row) => `${row.id} ${describeStatus(row.status)}`));
}

/**
 * Two items of one webhook that end at once would each see the other as pending, and nobody would close it. Locked
 * before the items, as those do who put items back.
 * @returns how often each has come again, by seq.
 */
export async function lockWebhooks(trx: Transaction<Database>, webhookSeqs: number[]): Promise<Map<number, number>> {
  const rows = await trx
    .selectFrom('webhooks')
    .select(['seq', 'repeats'])
    .where('seq', 'in', [...new Set(webhookSeqs)])
    .orderBy('seq')
    .forUpdate()
    .execute();
  return new Map(rows.map((row) => [row.seq, row.repeats]));
}

/**
 * A look that was asked for before the same bytes came again can't speak for them; of what the provider does not know, a
 * repeat buys no look. The first one is followed at once,
 * later ones after RELOOK_AFTER_S, however often the bytes come.
 */
async function lookAgain(trx: Transaction<Database>, items: ClaimedItem[], now: Date): Promise<void> {
  for (const [isFirst, some] of Map.groupBy(items, ({ looks }) => looks === 0)) {
    const at = new Date(now.getTime() + (isFirst ? 0 : REFETCH_AFTER_S * 1000));
    await trx
      .updateTable('webhook_items')
      .set({ next_look_at: sql`LEAST(COALESCE(next_look_at, ${at}), ${at})`, state: 'pending' })
      .where(
        'seq',
        'in',
        some.map(({ seq }) => seq),
      )
      .execute();
  }
}

type Fated = { item: ClaimedItem; fate: ItemOutcome; found: FetchResult['kind'] };

/** One statement for all that change alike. */
async function writeFates(trx: Transaction<Database>, fates: Fated[], now: Date): Promise<void> {
  const alike = Map.groupBy(fates, ({ fate, found }) => {
    if (fate.kind === 'quarantined') return `quarantined ${fate.reason} ${found}`;
    return fate.kind === 'applied' ? `applied ${fate.contradiction !== undefined}` : `waiting ${found}`;
  });
  for (const group of alike.values()) {
    const missed = group[0]?.found === 'unknown' ? { misses: sql<number>`misses + 1` } : {};
    const ended = { lease_holder: null, lease_until: null, granted: 0, ...missed };
    await trx
      .updateTable('webhook_items')
      .set({ looked_at: now, looks: sql`looks + 1`, ...ended, ...changeOf(group) })
      .where(
        'seq',
        'in',
        group.map(({ item }) => item.seq),
      )
      .execute();
  }
}

/** What becomes of the columns of items that fare alike. */
function changeOf(group: Fated[]) {
  const bySeq = <T>(value: (fate: ItemOutcome) => Date | string | null): RawBuilder<T> =>
    sql`CASE seq ${sql.join(
      group.map(({ item, fate }) => sql`WHEN ${item.seq} THEN ${value(fate)}`),
      sql` `,
    )} END`;
  const resolvedId = bySeq<string | null>((fate) => (fate.kind === 'quarantined' ? null : (fate.id ?? null)));
  const fate = group[0]?.fate;
  if (fate?.kind === 'waiting') {
    return {
      next_look_at: bySeq<Date>((one) => (one.kind === 'waiting' ? one.nextLookAt : null)),
      resolved_id: sql<string | null>`COALESCE(${resolvedId}, resolved_id)`,
    };
  }
  if (fate?.kind === 'quarantined') return { state: 'quarantined', reason: fate.reason, next_look_at: null };
  return {
    ...{ state: 'applied', reason: null, next_look_at: null, resolved_id: resolvedId },
    contradicted: fate?.contradiction ? 1 : 0,
  };
}

/** A webhook is done when its last item is: quarantined if any of them is. */
async function closeWebhooks(trx: Transaction<Database>, webhookSeqs: number[]): Promise<void> {
  const rows = await trx
    .selectFrom('webhook_items')
    .select(['webhook_seq', 'state', 'reason'])
    .where('webhook_seq', 'in', [...new Set(webhookSeqs)])
    .execute();
  const ended = [...Map.groupBy(rows, (row) => row.webhook_seq)]
    .filter(([, items]) => items.every((item) => item.state !== 'pending'))
    .map(([seq, items]) => ({ seq, refused: items.find((item) => item.state === 'quarantined') }));
  for (const group of Map.groupBy(ended, ({ refused }) => refused && `${refused.reason}`).values()) {
    const refused = group[0]?.refused;
    const change = refused ? { state: 'quarantined', reason: refused.reason } : { state: 'applied', reason: null };
    const seqs = group.map(({ seq }) => seq);
    await trx.updateTable('webhooks').set(change).where('seq', 'in', seqs).execute();
  }
}
