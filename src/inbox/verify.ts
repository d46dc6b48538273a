/**
 * Looks at what webhooks named, and applies what the provider shows to our key. A webhook itself moves nothing: what it
 * claims is compared with the history that was shown. Each item ends as applied (its claim is in the history, or it
 * claimed nothing), as applied with a contradiction (the claim did not come true within WEBHOOK_GRACE), or quarantined
 * (ambiguous, or unknown to the provider for as long). Many webhooks of one transaction need one look.
 */
import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import { createCoalescer } from '../database/coalesce.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import type { Observation } from '../domain/observation.ts';
import { nameStatus } from '../domain/statuses.ts';
import { webhookIdOf } from '../domain/webhook-id.ts';
import { applyObservations } from '../ledger/apply.ts';
import { raiseMismatches } from '../ledger/mismatches.ts';
import { refuseRows } from '../ledger/refuse-row.ts';
import { describeError } from '../log.ts';
import { itemsVerified, transactionsApplied } from '../metrics/metrics.ts';
import type { ProviderClient } from '../provider/client.ts';
import { ProviderError } from '../provider/provider-error.ts';
import type { ClaimedItem } from './claim-items.ts';
import { type Found, findTransaction } from './find-transaction.ts';
import { type Fate, judgeItem } from './judge-item.ts';
import { raiseQuarantine, resolveQuarantine } from './quarantine.ts';

const APPLY_ITEMS_MAX = 100;
const APPLY_BYTES_MAX = Number.POSITIVE_INFINITY;

/** Items of one key, and what a look found. */
export type Look = { items: ClaimedItem[]; found: Found };

export type Verifier = {
  /** Looks once for items of one key, and writes what became of each. */
  verify(items: ClaimedItem[]): Promise<void>;
  /** Writes what became of items that were found otherwise, many looks at once. */
  settle(looks: Look[]): Promise<void>;
};

export function createVerifier(context: Context, client: ProviderClient): Verifier {
  // looks that come back together are applied together
  const apply = createCoalescer<Observation, void>({
    itemsMax: APPLY_ITEMS_MAX,
    bytesMax: APPLY_BYTES_MAX,
    sizeOf: () => 0,
    inFlightMax: 1,
    work: async (observations) => {
      const { changed } = await applyObservations(context, observations);
      transactionsApplied.inc({ source: 'webhook' }, changed.length);
      return observations.map(() => undefined);
    },
  });
  async function settle(looks: Look[]): Promise<void> {
    const items = looks.flatMap((look) => look.items);
    try {
      await Promise.all(
        looks.map(async (look) => {
          const [first] = look.items;
          if (first) await applyFound(context, look.found, first, apply);
        }),
      );
      await settleItems(context, looks);
    } catch (error) {
      // one that can't be written must not hold up those that were found beside it
      if (looks.length > 1) for (const look of looks) await settle([look]);
      else await fail(items, error);
    }
  }
  // looks that end while others are written down are written down together
  const settleNext = createCoalescer<Look, void>({
    itemsMax: APPLY_ITEMS_MAX,
    bytesMax: APPLY_BYTES_MAX,
    sizeOf: () => 0,
    inFlightMax: 1,
    work: async (looks) => {
      await settle(looks);
      return looks.map(() => undefined);
    },
  });
  async function fail(items: ClaimedItem[], error: unknown): Promise<void> {
    context.log.warn({ error: describeError(error), items: items.length }, 'a look at what a webhook named failed');
    itemsVerified.inc({ outcome: 'failed' }, items.length);
    await postponeItems(context, items, error);
  }
  return {
    settle,
    async verify(items) {
      const [first] = items;
      if (!first) return;
      let found: Found;
      try {
        found = await findTransaction(context, client, first);
      } catch (error) {
        await fail(items, error);
        return;
      }
      await settleNext({ items, found });
    },
  };
}

async function applyFound(
  context: Context,
  found: Found,
  item: ClaimedItem,
  apply: (observation: Observation) => Promise<void>,
): Promise<void> {
  if (found.kind !== 'row') return;
  const source = { kind: 'webhook' as const, webhook: { seq: item.webhookSeq, id: webhookIdOf(item.webhookHash) } };
  const { row, askedAt } = found;
  if (row.ok) await apply({ transaction: row.transaction, digest: row.digest, askedAt, source });
  else await refuseRows(context, [{ ...row, source }]);
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

async function settleItems(context: Context, looks: Look[]): Promise<void> {
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

type Trx = Parameters<Parameters<typeof transact>[1]>[0];

/**
 * Two items of one webhook that end at once would each see the other as pending, and nobody would close it. Locked
 * before the items, as those do who put items back.
 */
async function lockWebhooks(trx: Trx, webhookSeqs: number[]): Promise<void> {
  await trx
    .selectFrom('webhooks')
    .select('seq')
    .where('seq', 'in', [...new Set(webhookSeqs)])
    .orderBy('seq')
    .forUpdate()
    .execute();
}

async function writeFate(trx: Trx, item: ClaimedItem, fate: Fate, now: Date): Promise<void> {
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
async function closeWebhooks(trx: Trx, webhookSeqs: number[]): Promise<void> {
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

const POSTPONE_MS = 5_000;
const POSTPONE_UNAUTHORIZED_MS = 60_000;

/** The provider could not be asked: that is no evidence, so the schedule does not move on. */
async function postponeItems(context: Context, items: ClaimedItem[], error: unknown): Promise<void> {
  const refused = error instanceof ProviderError && error.code === 'provider_unauthorized';
  const pause = (error as { retryAfterMs?: number }).retryAfterMs ?? (refused ? POSTPONE_UNAUTHORIZED_MS : POSTPONE_MS);
  await context.db
    .updateTable('webhook_items')
    .set({
      next_look_at: new Date(context.clock.now().getTime() + pause),
      lease_holder: null,
      lease_until: null,
    })
    .where(
      'seq',
      'in',
      items.map((item) => item.seq),
    )
    .execute();
}
