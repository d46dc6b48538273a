/**
 * Looks at what webhooks named, and applies what the provider shows to our key. A webhook itself moves nothing: what it
 * claims is compared with the history that was shown. Each item ends as applied (its claim is in the history, or it
 * claimed nothing), as applied with a contradiction (the claim did not come true within WEBHOOK_GRACE), or quarantined
 * (ambiguous, or unknown to the provider for as long). Many webhooks of one transaction need one look.
 */
import type { Context } from '../../context.ts';
import type { Observation } from '../../domain/observation.ts';
import { webhookIdOf } from '../../domain/webhook-id.ts';
import { applyObservations } from '../../ledger/apply/apply-observations.ts';
import { storeRefusedRows } from '../../ledger/apply/store-refused-rows.ts';
import { describeError } from '../../log.ts';
import { itemsVerified, transactionsApplied } from '../../metrics/metrics.ts';
import type { ProviderClient } from '../../provider/client.ts';
import { ProviderError } from '../../provider/provider-error.ts';
import { createBatcher } from '../../runtime/batch.ts';
import type { ClaimedItem } from '../items/claim-items.ts';
import { type FetchResult, fetchTransaction } from '../items/fetch-transaction.ts';
import { createIdSpellings } from '../items/learn-id-spellings.ts';
import { FIRST_IDS } from '../receive/plan-shows.ts';
import { type Admission, createShowBudget } from './admit-shows.ts';
import { type ItemFetch, settleItems } from './settle-items.ts';

/** Shows under way at the cost of senders without a hit. The others of theirs are claimed again later. */
const UNPROVEN_SHOWS_MAX = 64;
const UNPROVEN_AGAIN_MS = 1_000;
const APPLY_ITEMS_MAX = 100;
const APPLYING_MAX = 1;
const SETTLING_MAX = 1;
/** What was shown is booked by then: its items can wait until there are more of them, and each batch costs statements. */
const SETTLE_GATHER_MS = 25;
const APPLY_BYTES_MAX = Number.POSITIVE_INFINITY;

export type Verifier = {
  /** What looks at these groups of items, each of one key, may cost; a group that can't be told is put off. */
  admit(groups: ClaimedItem[][]): Promise<(Admission | undefined)[]>;
  /** Looks once for items of one key, as far as admitted, and writes what became of each. */
  verify(items: ClaimedItem[], admission: Admission): Promise<void>;
  /** Writes what became of items that were found otherwise, many looks at once. */
  settle(looks: ItemFetch[]): Promise<void>;
};

export function createVerifier(context: Context, client: ProviderClient): Verifier {
  const budget = createShowBudget(context);
  const spelling = createIdSpellings(context);
  const unproven = client.withPriority('unproven');
  let unprovenUnderWay = 0;
  // looks that come back together are applied together, and written beside their items while the next are applied
  const apply = createBatcher<Observation, unknown>({
    itemsMax: APPLY_ITEMS_MAX,
    bytesMax: APPLY_BYTES_MAX,
    sizeOf: () => 0,
    inFlightMax: APPLYING_MAX,
    work: (observations) => applyEach(context, observations),
  });
  const settleNext = createBatcher<ItemFetch, void>({
    itemsMax: APPLY_ITEMS_MAX,
    bytesMax: APPLY_BYTES_MAX,
    sizeOf: () => 0,
    inFlightMax: SETTLING_MAX,
    gatherMs: SETTLE_GATHER_MS,
    work: async (looks) => {
      await writeLooks(looks);
      return looks.map(() => undefined);
    },
  });

  async function writeLooks(looks: ItemFetch[]): Promise<void> {
    try {
      await settleItems(context, looks);
    } catch (error) {
      // one that can't be written must not hold up those that were found beside it
      if (looks.length > 1) for (const look of looks) await writeLooks([look]);
      else await fail(looks[0]?.items ?? [], undefined, error);
    }
  }

  /** @returns whether what was found is in the ledger; the items of one that is not are put off. */
  async function applyLook({ items, result: found, chargedSender: charged }: ItemFetch): Promise<boolean> {
    try {
      const [first] = items;
      if (first) await applyFound(context, found, first, apply);
      if (found.kind === 'row') await budget.creditHit(items, charged);
      else if (found.kind !== 'unknown') await budget.refund(charged);
      return true;
    } catch (error) {
      await fail(items, charged, error);
      return false;
    }
  }

  async function fail(items: ClaimedItem[], charged: string | undefined, error: unknown): Promise<void> {
    context.log.warn({ error: describeError(error), items: items.length }, 'a look at what a webhook named failed');
    itemsVerified.inc({ outcome: 'failed' }, items.length);
    await budget.refund(charged);
    await postponeItems(context, items, choosePause(items, error));
  }

  async function find(item: ClaimedItem, admission: Admission): Promise<FetchResult> {
    if (admission.kind === 'wait') return { ...admission, kind: 'deferred' };
    if (admission.chargedSender === undefined) return await fetchTransaction(context, client, spelling, item);
    unprovenUnderWay++;
    try {
      return await fetchTransaction(context, unproven, spelling, item);
    } finally {
      unprovenUnderWay--;
    }
  }

  return {
    async settle(looks) {
      const applied = await Promise.all(looks.map(applyLook));
      const whole = looks.filter((_, index) => applied[index]);
      if (whole.length > 0) await writeLooks(whole);
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
      if (!first) return;
      const charged = admission.kind === 'show' ? admission.chargedSender : undefined;
      if (charged !== undefined && unprovenUnderWay >= UNPROVEN_SHOWS_MAX) {
        // held here they would take the room of those that may be shown at once
        await budget.refund(charged);
        await postponeItems(context, items, UNPROVEN_AGAIN_MS);
        return;
      }
      let found: FetchResult;
      try {
        found = await find(first, admission);
      } catch (error) {
        await fail(items, charged, error);
        return;
      }
      const look = { items, result: found, chargedSender: charged };
      if (await applyLook(look)) await settleNext(look);
    },
  };
}

/** @returns for each what kept it out of the ledger, undefined where nothing did: one can't hold up the others. */
async function applyEach(context: Context, observations: Observation[]): Promise<unknown[]> {
  try {
    const { changed } = await applyObservations(context, observations);
    transactionsApplied.inc({ source: 'webhook' }, changed.length);
    return observations.map(() => undefined);
  } catch (error) {
    if (observations.length === 1) return [error];
    const faults: unknown[] = [];
    for (const observation of observations) faults.push(...(await applyEach(context, [observation])));
    return faults;
  }
}

async function applyFound(
  context: Context,
  found: FetchResult,
  item: ClaimedItem,
  apply: (observation: Observation) => Promise<unknown>,
): Promise<void> {
  if (found.kind !== 'row') return;
  const source = { kind: 'webhook' as const, webhook: { seq: item.webhookSeq, id: webhookIdOf(item.webhookHash) } };
  const { row } = found;
  if (!row.ok) {
    await storeRefusedRows(context, [{ ...row, source }]);
    return;
  }
  const fault = await apply({ ...row, source });
  if (fault) throw fault;
}

/** Times its place in its body: one body asks no more than 100 times a minute where the provider fails. */
const POSTPONE_MS = 5_000;
const POSTPONE_UNAUTHORIZED_MS = 60_000;

function choosePause(items: ClaimedItem[], error: unknown): number {
  const refused = error instanceof ProviderError && error.code === 'provider_unauthorized';
  const place = Math.min(FIRST_IDS - 1, Math.max(0, ...items.map(({ position }) => position)));
  const asked = (error as { retryAfterMs?: number }).retryAfterMs ?? 0;
  return Math.max(asked, refused ? POSTPONE_UNAUTHORIZED_MS : POSTPONE_MS * (place + 1));
}

/** The provider could not be asked: that is no evidence, so the schedule does not move on. */
async function postponeItems(context: Context, items: ClaimedItem[], pauseMs: number): Promise<void> {
  await context.db
    .updateTable('webhook_items')
    .set({
      next_look_at: new Date(context.clock.now().getTime() + pauseMs),
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
