/**
 * Verifies items: fetches what a webhook names from the provider, and applies what it shows to our key. A webhook itself
 * moves nothing: its claim is compared with the shown history. An item ends in one of three outcomes:
 * - applied: its claim is in the history, or it claimed nothing;
 * - applied with a contradiction: the claim did not come true within WEBHOOK_GRACE;
 * - quarantined: its claim fits several transactions, or is unknown to the provider for WEBHOOK_GRACE.
 * Many webhooks about one transaction need one fetch.
 */

import type { Context } from '../../context.ts';
import { webhookIdOf } from '../../domain/ids.ts';
import { largest, seqsOf } from '../../domain/lists.ts';
import { describeError } from '../../log.ts';
import { itemsVerified } from '../../metrics/metrics.ts';
import type { ProviderClient } from '../../provider/client.ts';
import { ProviderError } from '../../provider/provider-error.ts';
import { createBatcher } from '../../runtime/batch.ts';
import { inSpan } from '../../tracing/in-span.ts';
import type { ClaimedItem } from '../items/claim-items.ts';
import { type FetchResult, fetchTransaction } from '../items/fetch-transaction.ts';
import { createIdSpellings } from '../items/learn-id-spellings.ts';
import { traceOf } from '../items/trace-webhook.ts';
import { FIRST_IDS } from '../receive/plan-shows.ts';
import { type Admission, createShowBudget } from './admit-shows.ts';
import { createShownApplier } from './apply-shown.ts';
import { type ItemFetch, recordOutcomes } from './record-outcomes.ts';

/** Shows in flight that are charged to senders without a hit. Further items of theirs are claimed again later. */
const UNPROVEN_SHOWS_MAX = 64;
const UNPROVEN_RETRY_MS = 1_000;
const RECORD_ITEMS_MAX = 100;
const RECORDING_MAX = 1;
/** Outcomes that no row takes along. They wait for others, since each batch costs statements. */
const RECORD_GATHER_MS = 100;

/** Items that one fetch verifies, with the key that they share. */
export type ItemGroup = { key: string; items: ClaimedItem[] };

export type Verifier = {
  /**
   * Never rejects: items of a caller that ended here would stay under a lease that is renewed for ever.
   * @returns what fetching each group may cost; a group has one key. Undefined: the check failed; the group is deferred.
   */
  admit(groups: ClaimedItem[][]): Promise<(Admission | undefined)[]>;
  /** Fetches once for items of one key, where admitted, and writes the outcome of each item. */
  verify(items: ClaimedItem[], admission: Admission): Promise<void>;
  /** Applies items that were fetched otherwise, and writes their outcomes. */
  applyAndRecord(fetches: ItemFetch[]): Promise<void>;
};

export function createVerifier(context: Context, client: ProviderClient): Verifier {
  const budget = createShowBudget(context);
  const spelling = createIdSpellings(context);
  const unproven = client.withPriority('unproven');
  let unprovenInFlight = 0;
  const applyShown = createShownApplier(context);
  const recordNext = createBatcher<ItemFetch, void>({
    itemsMax: RECORD_ITEMS_MAX,
    bytesMax: Number.POSITIVE_INFINITY,
    sizeOf: () => 0,
    inFlightMax: RECORDING_MAX,
    gatherMs: RECORD_GATHER_MS,
    work: async (fetches) => {
      await recordEach(fetches);
      return fetches.map(() => undefined);
    },
  });

  async function recordEach(fetches: ItemFetch[]): Promise<void> {
    try {
      await recordOutcomes(context, fetches);
    } catch (error) {
      // one failing outcome must not block the others of its batch
      if (fetches.length > 1) for (const one of fetches) await recordEach([one]);
      else await fail(fetches[0]?.items ?? [], undefined, error);
    }
  }

  /** @returns whether the row, if any, is in the ledger, perhaps with the outcomes; otherwise the items are deferred. */
  async function applyFetch(fetch: ItemFetch): Promise<'applied' | 'recorded' | 'failed'> {
    const { items, result, chargedSender } = fetch;
    logVerified(context, items, result);
    let charged = chargedSender;
    let isRecorded = false;
    try {
      const [first] = items;
      if (result.kind === 'row' && first) {
        // before the outcome: a reader of an applied webhook finds the hit of its sender
        await budget.creditHit(items, charged);
        charged = undefined;
        const apply = () => applyShown(first, result.rows, fetch);
        isRecorded = await inSpan('ledger.apply', {}, apply, { parent: first.traceparent });
      } else if (result.kind !== 'unknown') await budget.refund(chargedSender);
      return isRecorded ? 'recorded' : 'applied';
    } catch (error) {
      await fail(items, charged, error);
      return 'failed';
    }
  }

  /** Never throws: the database may be what failed. Then the leases of the items run out, and they are claimed again. */
  async function fail(items: ClaimedItem[], chargedSender: string | undefined, error: unknown): Promise<void> {
    context.log.warn({ error: describeError(error), items: items.length }, 'verifying items failed; retrying later');
    itemsVerified.inc({ outcome: 'failed' }, items.length);
    logVerified(context, items, { kind: 'failed' });
    try {
      await budget.refund(chargedSender);
      await deferItems(context, items, choosePause(items, error));
    } catch (failure) {
      const details = { error: describeError(failure), items: items.length };
      context.log.warn(details, 'items could not be deferred; they are verified again when their leases run out');
    }
  }

  async function fetchItem(item: ClaimedItem, admission: Admission): Promise<FetchResult> {
    if (admission.kind === 'wait') return { ...admission, kind: 'deferred' };
    const { chargedSender } = admission;
    if (chargedSender === undefined) return await fetchTransaction({ context, client, item, chargedSender }, spelling);
    unprovenInFlight++;
    try {
      return await fetchTransaction({ context, client: unproven, item, chargedSender }, spelling);
    } finally {
      unprovenInFlight--;
    }
  }

  return {
    async applyAndRecord(fetches) {
      const ends = await Promise.all(fetches.map(applyFetch));
      const applied = fetches.filter((_, index) => ends[index] === 'applied');
      if (applied.length > 0) await recordEach(applied);
    },
    async admit(groups) {
      try {
        return await budget.admit(groups);
      } catch (error) {
        await fail(groups.flat(), undefined, error);
        return groups.map(() => undefined);
      }
    },
    async verify(items, admission) {
      const [first] = items;
      if (first)
        await inSpan(
          'webhook.verify',
          { 'confere.items': items.length },
          () => verify(first, items, admission),
          traceOf(items),
        );
    },
  };

  async function verify(first: ClaimedItem, items: ClaimedItem[], admission: Admission): Promise<void> {
    const chargedSender = admission.kind === 'show' ? admission.chargedSender : undefined;
    if (chargedSender !== undefined && unprovenInFlight >= UNPROVEN_SHOWS_MAX) {
      // waiting here they would occupy the slots of items that may be fetched at once
      await budget.refund(chargedSender);
      await deferItems(context, items, UNPROVEN_RETRY_MS);
      return;
    }
    let result: FetchResult;
    try {
      result = await fetchItem(first, admission);
    } catch (error) {
      await fail(items, chargedSender, error);
      return;
    }
    // items of one id may have another reference beside it
    const isSame = (item: ClaimedItem): boolean => isSameKey(item, first);
    const same = result.kind === 'row' && result.isFallback ? items.filter(isSame) : items;
    const others = items.filter((item) => !same.includes(item));
    const fetched = { items: same, result, chargedSender };
    if ((await applyFetch(fetched)) === 'applied') await recordNext(fetched);
    if (others.length > 0) await deferItems(context, others, UNPROVEN_RETRY_MS);
  }
}

function isSameKey(one: ClaimedItem, other: ClaimedItem): boolean {
  const isSameExtra = one.extraHash?.toString('hex') === other.extraHash?.toString('hex');
  return one.reference === other.reference && isSameExtra;
}

/** Logs of a webhook only what the provider showed: its sender chose the rest. */
function logVerified({ log }: Context, items: ClaimedItem[], result: FetchResult | { kind: 'failed' }): void {
  if (!log.isLevelEnabled('debug')) return;
  const { kind: outcome } = result;
  const [row] = result.kind === 'row' && result.rows.length === 1 ? result.rows : [];
  const transaction = row?.ok ? row.transaction.id : undefined;
  for (const { webhookHash, seq: item, position } of items) {
    const webhook = webhookIdOf(webhookHash);
    log.debug({ stage: 'verified', webhook, item, position, outcome, transaction }, 'webhook item verified');
  }
}

/** Times the item's position in its body: one body sends at most 100 requests a minute where the provider fails. */
const RETRY_MS = 5_000;

function choosePause(items: ClaimedItem[], error: unknown): number {
  const position = Math.min(FIRST_IDS - 1, Math.max(0, largest(items.map((item) => item.position))));
  const retryAfterMs = error instanceof ProviderError ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(retryAfterMs, RETRY_MS * (position + 1));
}

/** Retries items later. Their schedule does not advance, because a failed request says nothing about the transaction. */
async function deferItems(context: Context, items: ClaimedItem[], pauseMs: number): Promise<void> {
  await context.db
    .updateTable('webhook_items')
    .set({
      next_look_at: new Date(context.clock.now().getTime() + pauseMs),
      lease_holder: null,
      lease_until: null,
    })
    .where('seq', 'in', seqsOf(items))
    .execute();
}
