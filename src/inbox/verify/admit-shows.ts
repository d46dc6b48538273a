import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import { largest } from '../../domain/lists.ts';
import type { ClaimedItem } from '../items/claim-items.ts';
import { findKnownKeys, formatItemKey } from '../items/find-known-keys.ts';
import { chargeSender, findLastHits, recordHit, refundShows } from '../receive/charge-senders.ts';
import {
  chooseBestPlan,
  HIT_TTL_MS,
  isFirstShow,
  planShow,
  SENDER_SHOWS_PER_HOUR,
  type ShowPlan,
} from '../receive/plan-shows.ts';

/** Least time between two stored hits of one sender. */
const HIT_WRITTEN_EVERY_MS = 60_000;
const SENDERS_KEPT_MAX = 10_000;

/** The decision about a fetch: ask the provider, at the cost of a sender, or wait. */
export type Admission =
  | { kind: 'show'; chargedSender: string | undefined }
  | { kind: 'wait'; waitsFor: 'list' | 'sender'; notBefore: Date | undefined };

export type ShowBudget = {
  /** @returns for each group of items of one key what its fetch may do, in order. */
  admit(groups: ClaimedItem[][]): Promise<Admission[]>;
  /** The provider knew what these items name: records a hit of their senders and refunds their misses. */
  creditHit(items: ClaimedItem[], chargedSender: string | undefined): Promise<void>;
  /** Refunds a show that the provider did not answer: it was no miss. */
  refund(chargedSender: string | undefined): Promise<void>;
};

type Planned = { plan: ShowPlan; payer: ClaimedItem | undefined };

const FREE: Admission = { kind: 'show', chargedSender: undefined };

/** The budget of shows for what webhooks name (see plan-shows.ts). Stored in the database; hits are cached here. */
export function createShowBudget(context: Context): ShowBudget {
  const hits = new Map<string, { at: Date; writtenAtMs: number }>();

  function hadHit(sender: string): boolean {
    const at = hits.get(sender)?.at;
    return at !== undefined && context.clock.now().getTime() - at.getTime() < HIT_TTL_MS;
  }

  /** True for nearly every group. It saves the queries. */
  const isSurelyFree = (group: ClaimedItem[]): boolean =>
    group.some((item) => item.granted || (isFirstShow(item) && hadHit(item.sender)));

  async function planAll(groups: ClaimedItem[][]): Promise<Planned[]> {
    const items = groups.flat();
    const known = await findKnownKeys(context, context.db, items);
    await learnHits(items);
    const bodies = await countMisses(context, items);
    const now = context.clock.now();
    return groups.map((group) => {
      const candidates = group.map((item) => ({
        ...item,
        asksProvider: item.transactionId !== null || item.reference !== null,
        isKnown: known.has(formatItemKey(item)),
        hadHit: hadHit(item.sender),
        bodyMisses: bodies.get(item.webhookSeq) ?? 0,
      }));
      const plans = candidates.map((one) => planShow(one, now));
      const plan = chooseBestPlan(plans);
      const payer = plan.kind === 'charge' ? choosePayer(group, plans) : undefined;
      // the next group of this body in this batch must not spend the same miss
      if (payer) bodies.set(payer.webhookSeq, (bodies.get(payer.webhookSeq) ?? 0) + 1);
      return { plan, payer };
    });
  }

  async function learnHits(items: ClaimedItem[]): Promise<void> {
    const unsure = [...new Set(items.map(({ sender }) => sender))].filter((sender) => !hadHit(sender));
    for (const [sender, at] of await findLastHits(context, unsure)) remember(sender, { at, writtenAtMs: 0 });
  }

  function remember(sender: string, hit: { at: Date; writtenAtMs: number }): void {
    if (hits.size >= SENDERS_KEPT_MAX) hits.clear();
    hits.set(sender, hit);
  }

  async function admitUnsure(groups: ClaimedItem[][]): Promise<Admission[]> {
    const planned = await planAll(groups);
    const paying = planned.flatMap(({ payer }, index) => (payer ? [{ index, payer }] : []));
    const paid = new Map<number, string>();
    for (const [sender, ones] of Map.groupBy(paying, ({ payer }) => payer.sender)) {
      const charge = { sender, cost: 'shows' as const, wanted: ones.length, max: SENDER_SHOWS_PER_HOUR };
      const { granted } = await chargeSender(context, charge);
      // items never fetched come before items that the provider did not know
      const inOrder = ones.toSorted((a, b) => a.payer.misses - b.payer.misses);
      for (const { index } of inOrder.slice(0, granted)) paid.set(index, sender);
    }
    return planned.map(({ plan }, index) => {
      if (plan.kind === 'show') return FREE;
      if (plan.kind === 'list') return { kind: 'wait', waitsFor: 'list', notBefore: plan.notBefore };
      const charged = paid.get(index);
      if (charged !== undefined) return { kind: 'show', chargedSender: charged };
      return { kind: 'wait', waitsFor: 'sender', notBefore: undefined };
    });
  }

  return {
    async admit(groups) {
      const unsure = groups.filter((group) => !isSurelyFree(group));
      if (unsure.length === 0) return groups.map(() => FREE);
      const admitted = await admitUnsure(unsure);
      const byGroup = new Map(unsure.map((group, index) => [group, admitted[index] ?? FREE]));
      return groups.map((group) => byGroup.get(group) ?? FREE);
    },
    async creditHit(items, chargedSender) {
      const nowMs = context.clock.now().getTime();
      for (const [sender, ones] of Map.groupBy(items, (item) => item.sender)) {
        const back = Math.max(0, largest(ones.map(({ misses }) => misses))) + (sender === chargedSender ? 1 : 0);
        if (back > 0) await refundShows(context, sender, back);
        const isWritten = nowMs - (hits.get(sender)?.writtenAtMs ?? 0) < HIT_WRITTEN_EVERY_MS;
        if (isWritten) continue;
        remember(sender, { at: new Date(nowMs), writtenAtMs: nowMs });
        await recordHit(context, sender);
      }
    },
    async refund(chargedSender) {
      if (chargedSender !== undefined) await refundShows(context, chargedSender, 1);
    },
  };
}

/** The item whose body and sender are charged for the fetch of a group: the one with the fewest misses. */
function choosePayer(group: ClaimedItem[], plans: ShowPlan[]): ClaimedItem | undefined {
  const chargeable = group.filter((_, index) => plans[index]?.kind === 'charge');
  return chargeable.toSorted((a, b) => a.misses - b.misses || a.position - b.position)[0];
}

/** Misses of all items, for the bodies of which any item has one. */
async function countMisses(context: Context, items: ClaimedItem[]): Promise<Map<number, number>> {
  const denied = items.filter(({ misses }) => misses > 0).map(({ webhookSeq }) => webhookSeq);
  if (denied.length === 0) return new Map();
  const rows = await context.db
    .selectFrom('webhook_items')
    .select(['webhook_seq', sql<string>`SUM(misses)`.as('misses')])
    .where('webhook_seq', 'in', [...new Set(denied)])
    .groupBy('webhook_seq')
    .execute();
  return new Map(rows.map((row) => [row.webhook_seq, Number(row.misses)]));
}
