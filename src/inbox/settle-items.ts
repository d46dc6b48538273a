import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { nameStatus } from '../domain/statuses.ts';
import { raiseMismatches } from '../ledger/mismatches.ts';
import { itemsVerified } from '../metrics/metrics.ts';
import type { ClaimedItem } from './claim-items.ts';
import type { Found } from './find-transaction.ts';
import { type Fate, judgeItem } from './judge-item.ts';
import { raiseQuarantine, resolveQuarantine } from './quarantine.ts';

/** Items of one key, and what a look found. */
export type Look = { items: ClaimedItem[]; found: Found };

/**
 * Writes what became of items after a look, in one transaction: their fates, the contradictions and quarantines that
 * follow, and the end of webhooks whose last item this was.
 */
export async function settleItems(context: Context, looks: Look[]): Promise<void> {
  const now = context.clock.now();
  const grace = context.config.WEBHOOK_GRACE;
  const fates = looks
    .flatMap(({ items, found }) => items.map((item) => ({ item, fate: judgeItem(item, found, now, grace) })))
    .sort((a, b) => a.item.seq - b.item.seq);
  await transact(
    context.db,
    async (trx) => {
      await lockWebhooks(
        trx,
        fates.map(({ item }) => item.webhookSeq),
      );
      for (const { item, fate } of fates) await writeFate(trx, item, fate, now);
      const contradicted = fates.flatMap(({ item, fate }) =>
        fate.kind === 'applied' && fate.contradiction ? [{ item, ...fate.contradiction }] : [],
      );
      const shownSince = await findShown(trx, contradicted);
      await raiseMismatches(
        trx,
        contradicted
          .filter(({ scope }) => !shownSince.has(scope))
          .map(({ item, scope, expected, actual, id, amountCents, reference }) => ({
            kind: 'webhook_contradiction',
            scope,
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
    },
    { retryDuplicates: true },
  );
  for (const { fate } of fates) {
    const contradicted = fate.kind === 'applied' && fate.contradiction !== undefined;
    itemsVerified.inc({ outcome: contradicted ? 'contradicted' : fate.kind });
  }
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
    .execute();
  return new Set(rows.map((row) => `${row.id} ${nameStatus(row.status)}`));
}

/**
 * Two items of one webhook that end at once would each see the other as pending, and nobody would close it. Locked
 * before the items, as those do who put items back.
 */
async function lockWebhooks(trx: Transaction<Database>, webhookSeqs: number[]): Promise<void> {
  await trx
    .selectFrom('webhooks')
    .select('seq')
    .where('seq', 'in', [...new Set(webhookSeqs)])
    .orderBy('seq')
    .forUpdate()
    .execute();
}

async function writeFate(trx: Transaction<Database>, item: ClaimedItem, fate: Fate, now: Date): Promise<void> {
  const done = { looked_at: now, looks: item.looks + 1, lease_holder: null, lease_until: null };
  const change =
    fate.kind === 'waiting'
      ? { ...done, next_look_at: fate.nextLookAt, ...(fate.id ? { resolved_id: fate.id } : {}) }
      : fate.kind === 'quarantined'
        ? { ...done, state: 'quarantined', reason: fate.reason, next_look_at: null }
        : {
            ...done,
            state: 'applied',
            reason: null,
            next_look_at: null,
            resolved_id: fate.id,
            contradicted: fate.contradiction ? 1 : 0,
          };
  await trx.updateTable('webhook_items').set(change).where('seq', '=', item.seq).execute();
}

/** A webhook is done when its last item is: quarantined if any of them is. */
async function closeWebhooks(trx: Transaction<Database>, webhookSeqs: number[]): Promise<void> {
  const seqs = [...new Set(webhookSeqs)].sort((a, b) => a - b);
  const rows = await trx
    .selectFrom('webhook_items')
    .select(['webhook_seq', 'state', 'reason'])
    .where('webhook_seq', 'in', seqs)
    .execute();
  for (const [seq, items] of Map.groupBy(rows, (row) => row.webhook_seq)) {
    if (items.some((item) => item.state === 'pending')) continue;
    const refused = items.find((item) => item.state === 'quarantined');
    const change = refused ? { state: 'quarantined', reason: refused.reason } : { state: 'applied', reason: null };
    await trx.updateTable('webhooks').set(change).where('seq', '=', seq).execute();
  }
}
