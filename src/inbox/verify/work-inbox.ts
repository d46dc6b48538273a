/**
 * Works off the inbox until the signal: splits webhooks into items, claims due items, verifies them. Start reading here.
 * Few webhooks of one item each come from this process's receiver split and claimed (verify-arrivals.ts).
 *
 * A slow fetch delays nothing but its own items. Within this process, one fetch of a transaction is in flight at a time:
 * items that arrive meanwhile wait for it and then share one fetch, since a fetch that was sent before a webhook arrived
 * proves nothing about it. Another process that has claimed items of the same transaction fetches it too; `apply` takes
 * both answers in any order.
 *
 * A backlog far beyond the free slots is a burst. It is claimed at once, looked up in list pages as far as that is
 * cheaper, and only the rest is fetched by id. One burst is in flight at a time, beside single items.
 */

import type { Context } from '../../context.ts';
import { append } from '../../domain/lists.ts';
import { describeError } from '../../log.ts';
import type { ProviderClient } from '../../provider/client.ts';
import { createHeartbeat } from '../../runtime/heartbeat.ts';
import { LOOP_BACKOFF, runWorkerLoop } from '../../runtime/wake-signal.ts';
import { backoffMs } from '../../timers.ts';
import {
  type ClaimedItem,
  claimItems,
  countDueItems,
  LEASE_MS,
  renewLeases,
  selectDueItems,
} from '../items/claim-items.ts';
import { formatItemKey } from '../items/find-known-keys.ts';
import { offerVerification } from '../receive/take-arrivals.ts';
import { createDeferredWebhooks, type DeferredWebhooks } from '../split/defer-webhooks.ts';
import { splitWebhooks } from '../split/split-webhooks.ts';
import { createArrivalTaker } from './verify-arrivals.ts';
import { verifyBurst } from './verify-burst.ts';
import { createVerifier, type ItemGroup } from './verify-items.ts';

/** Batches split before items are claimed, so that a burst is known as one before its items are fetched one by one. */
const SPLIT_ROUNDS = 10;
export const ITEMS_IN_FLIGHT_MAX = 200;
const BURST_ITEMS_MIN = 400;
const BURST_ITEMS_MAX = 4_000;
const IDLE_MS = 500;
/** How often due items are claimed while new webhooks keep arriving. */
const CLAIM_EVERY_MS = 100;
/** How often one item asks while the key is refused: the first accepted answer lets the others start. */
const REFUSED_EVERY_MS = 10_000;
const RENEW_MS = LEASE_MS / 4;

export async function workInbox(context: Context, client: ProviderClient): Promise<void> {
  /** More items were due than slots were free. */
  let isSaturated = false;
  let claimedAtMs = Number.NEGATIVE_INFINITY;
  const verifications = createVerifications(context, client, () => {
    if (isSaturated) context.wakeUps.inbox.notify();
  });
  const deferred = createDeferredWebhooks(context.timers);
  const slots = (): number => (client.health.isKeyRefused() ? 0 : ITEMS_IN_FLIGHT_MAX - verifications.singles());
  const taker = createArrivalTaker(context, {
    // while items wait for a slot, new ones wait behind them; a webhook that fails alone needs others that are split
    slots: () => (isSaturated || !deferred.isEmpty() ? 0 : slots()),
    start: verifications.start,
  });
  const offer = offerVerification(context, taker);
  const splitWaiting = createSplitter(context, verifications, deferred, () => (isSaturated ? 0 : slots()));
  const renewal = context.timers.every(RENEW_MS, () => {
    renewLeases(context, verifications.seqs()).catch((error: unknown) =>
      context.log.warn({ error: describeError(error) }, 'renewing the leases of items failed; retrying'),
    );
  });

  /** @returns whether there is more to do at once. */
  async function startDue(fresh: Split): Promise<boolean> {
    // only once all webhooks are split: the more ids of a day, the cheaper its list pages
    const isRefused = client.health.isKeyRefused();
    const mayBurst = !isRefused && !fresh.more && isSaturated && !verifications.inBurst();
    if (mayBurst && (await countDueItems(context, BURST_ITEMS_MIN)) === BURST_ITEMS_MIN)
      verifications.startBurst(await claimItems(context, BURST_ITEMS_MAX));
    // the new items are in flight already; other due items can wait that long
    const pauseMs = isRefused ? REFUSED_EVERY_MS : fresh.claimed ? CLAIM_EVERY_MS : 0;
    if (context.timers.monotonicMs() - claimedAtMs < pauseMs) return fresh.more;
    const free = isRefused ? 1 : slots();
    isSaturated = free <= 0;
    if (isSaturated) return false;
    claimedAtMs = context.timers.monotonicMs();
    const items = await claimItems(context, free);
    verifications.start(items);
    isSaturated = items.length >= free;
    return fresh.more || isSaturated;
  }

  await runWorkerLoop({
    name: 'inbox',
    wakeUp: context.wakeUps.inbox,
    idleMs: IDLE_MS,
    heartbeat: createHeartbeat(context, 'inbox'),
    context,
    hasWork: () =>
      context.poll(() => [
        context.db.selectFrom('webhooks').select('seq').where('state', '=', 'received'),
        selectDueItems(context.db, context.clock.now()).select('seq'),
      ]),
    work: async () => await startDue(await splitWaiting()),
  });
  offer[Symbol.dispose]();
  renewal.cancel();
  await taker.ended();
  await verifications.ended();
}

/** `more`: webhooks may be left; `claimed`: items of new webhooks were claimed. */
type Split = { more: boolean; claimed: boolean };

/** Splits waiting webhooks; after a failure not before a pause. Due items do not wait for either. */
function createSplitter(
  context: Context,
  verifications: Verifications,
  deferred: DeferredWebhooks,
  slots: () => number,
): () => Promise<Split> {
  let failures = 0;
  let notBeforeMs = 0;

  /** Items claimed while splitting are verified without another claim, where slots are free and no older item waits. */
  async function splitRounds(): Promise<Split> {
    let hasClaimed = false;
    for (let round = 0; round < SPLIT_ROUNDS; round++) {
      const { claimed, failure, more } = await splitWebhooks(context, slots(), deferred);
      // also after a failure: they are under lease
      verifications.start(claimed);
      hasClaimed ||= claimed.length > 0;
      if (failure) throw failure.error;
      if (!more) return { more: false, claimed: hasClaimed };
    }
    return { more: true, claimed: hasClaimed };
  }

  return async () => {
    if (context.timers.monotonicMs() < notBeforeMs) return { more: false, claimed: false };
    try {
      const split = await splitRounds();
      failures = 0;
      return split;
    } catch (error) {
      failures++;
      notBeforeMs = context.timers.monotonicMs() + backoffMs(failures, LOOP_BACKOFF);
      const details = { error: describeError(error), loop: 'inbox', failures };
      context.log.error(details, 'splitting webhooks failed; retrying after a pause, due items continue');
      return { more: false, claimed: false };
    }
  };
}

type Verifications = ReturnType<typeof createVerifications>;

/**
 * The verifications in flight: at most one for each key. Further items of a key wait, and start together once it ends.
 * @param onEnd called when a verification has ended.
 */
function createVerifications(context: Context, client: ProviderClient, onEnd: () => void) {
  const verifier = createVerifier(context, client);
  const single = new Set<number>();
  const burst = new Set<number>();
  /** By key in flight: the items that wait for it. */
  const waiting = new Map<string, ClaimedItem[]>();
  const running = new Set<Promise<void>>();

  function run(work: Promise<void>): Promise<void> {
    const one: Promise<void> = work
      .catch((error: unknown) => context.log.error({ error: describeError(error) }, 'a verification failed'))
      .finally(() => {
        running.delete(one);
        onEnd();
      });
    running.add(one);
    return one;
  }

  /** @returns the groups that may start now; the others wait for the fetch in flight. */
  function enter(items: ClaimedItem[], kind: Set<number>): ItemGroup[] {
    for (const item of items) kind.add(item.seq);
    const groups = [...Map.groupBy(items, formatItemKey)].map(([key, group]) => ({ key, items: group }));
    return groups.filter(({ key, items: group }) => {
      const others = waiting.get(key);
      if (others) append(others, group);
      else waiting.set(key, []);
      return !others;
    });
  }

  function leave({ key, items }: ItemGroup): void {
    for (const kind of [single, burst]) for (const { seq } of items) kind.delete(seq);
    const others = waiting.get(key) ?? [];
    waiting.delete(key);
    // after the signal another process claims them: their leases expire
    if (others.length > 0 && !context.signal.aborted) start(others);
  }

  function start(items: ClaimedItem[]): void {
    const groups = enter(items, single);
    if (groups.length > 0) void run(verifyEach(groups));
  }

  async function verifyEach(groups: ItemGroup[]): Promise<void> {
    const admissions = await verifier.admit(groups.map(({ items }) => items));
    const verifications = groups.map((group, index) => {
      const admission = admissions[index];
      const verified = admission ? verifier.verify(group.items, admission) : Promise.resolve();
      // each leaves by itself: a slow one must not delay the others
      return run(verified.finally(() => leave(group)));
    });
    await Promise.all(verifications);
  }

  return {
    start,
    startBurst(items: ClaimedItem[]): void {
      void run(verifyBurst(context, client, verifier, { groups: enter(items, burst), leave }));
    },
    inBurst: () => burst.size > 0,
    /** How many items are in flight outside the burst. */
    singles: () => single.size,
    seqs: () => [...single, ...burst],
    async ended(): Promise<void> {
      await Promise.allSettled(running);
    },
  };
}
