/**
 * Works the inbox off until the signal: takes webhooks apart, claims what is due to be looked at, looks. A slow look
 * holds up nothing but itself. Of one transaction one look is under way at a time: what comes meanwhile waits for it,
 * and then has one look together, since a look that was asked for before a webhook came can't speak for it.
 *
 * Where far more is due than there is room for, it is a burst: claimed at once, looked up in the list's pages as far as
 * that is cheaper, and only the rest by shows. One burst is under way at a time, beside what is looked at singly.
 */
import type { Context } from '../../context.ts';
import { describeError } from '../../log.ts';
import type { ProviderClient } from '../../provider/client.ts';
import { failureBackoffMs, runWorkerLoop } from '../../runtime/wake-signal.ts';
import { type ClaimedItem, claimItems, countDueItems, LEASE_MS, renewLeases } from '../items/claim-items.ts';
import type { FetchResult } from '../items/fetch-transaction.ts';
import { formatItemKey } from '../items/find-known-keys.ts';
import { createDeferredWebhooks, type DeferredWebhooks } from '../split/defer-webhooks.ts';
import { splitWebhooks } from '../split/split-webhooks.ts';
import type { Admission } from './admit-shows.ts';
import { lookUpByDays } from './look-up-by-days.ts';
import { createVerifier, type Verifier } from './verify-items.ts';

/** Taken apart at once, so that a burst is known as one before it is looked at one by one. */
const TAKE_APART_ROUNDS = 10;
const ITEMS_IN_FLIGHT_MAX = 200;
const BURST_ITEMS_MIN = 400;
const BURST_ITEMS_MAX = 4_000;
const BURST_SHOWS_IN_FLIGHT = 32;
const SETTLE_LOOKS_MAX = 100;
const IDLE_MS = 500;
/** While new webhooks keep coming, what is due besides them is claimed so often. */
const CLAIM_EVERY_MS = 100;
const RENEW_MS = LEASE_MS / 4;

export async function workInbox(context: Context, client: ProviderClient): Promise<void> {
  /** More was due than there was room for. */
  let isShort = false;
  let claimedAtMs = Number.NEGATIVE_INFINITY;
  const looks = createLooks(context, client, () => {
    if (isShort) context.wakeUps.inbox.notify();
  });
  const takeAll = createTaker(context, looks);
  const renewal = context.timers.every(RENEW_MS, () => {
    renewLeases(context, looks.seqs()).catch((error: unknown) =>
      context.log.warn({ error: describeError(error) }, 'leases of looks could not be renewed'),
    );
  });

  /** @returns whether there is more to do at once. */
  async function startDue(fresh: Fresh): Promise<boolean> {
    // only once all is taken apart: the more ids of a day, the cheaper its pages
    if (
      !fresh.more &&
      isShort &&
      !looks.inBurst() &&
      (await countDueItems(context, BURST_ITEMS_MIN)) === BURST_ITEMS_MIN
    )
      looks.startBurst(await claimItems(context, BURST_ITEMS_MAX));
    // what came just now is under way; what is due besides it can wait that long
    if (fresh.claimed && context.timers.monotonicMs() - claimedAtMs < CLAIM_EVERY_MS) return fresh.more;
    const room = ITEMS_IN_FLIGHT_MAX - looks.singles();
    isShort = room <= 0;
    if (isShort) return false;
    claimedAtMs = context.timers.monotonicMs();
    const items = await claimItems(context, room);
    looks.start(items);
    isShort = items.length >= room;
    return fresh.more || isShort;
  }

  await runWorkerLoop({
    name: 'inbox',
    wakeUp: context.wakeUps.inbox,
    idleMs: IDLE_MS,
    context,
    work: async () => await startDue(await takeAll(isShort)),
  });
  renewal.cancel();
  await looks.ended();
}

type Looks = ReturnType<typeof createLooks>;
type Fresh = { more: boolean; claimed: boolean };

/** Takes apart what waits for it; after a failure not before a pause. What is due waits for neither. */
function createTaker(context: Context, looks: Looks): (isShort: boolean) => Promise<Fresh> {
  const putOff = createDeferredWebhooks(context.timers);
  let failures = 0;
  let notBeforeMs = 0;
  return async (isShort) => {
    if (context.timers.monotonicMs() < notBeforeMs) return { more: false, claimed: false };
    try {
      const fresh = await takeAllApart(context, looks, isShort, putOff);
      failures = 0;
      return fresh;
    } catch (error) {
      failures++;
      notBeforeMs = context.timers.monotonicMs() + failureBackoffMs(failures);
      const told = { error: describeError(error), loop: 'inbox', failures };
      context.log.error(told, 'webhooks could not be taken apart; they are tried again, what is due goes on');
      return { more: false, claimed: false };
    }
  };
}

/** What was taken apart is looked at without another claim, as long as there is room and nothing older waits. */
async function takeAllApart(
  context: Context,
  looks: Looks,
  isShort: boolean,
  putOff: DeferredWebhooks,
): Promise<Fresh> {
  let claimed = false;
  const onClaimed = (items: ClaimedItem[]): void => {
    looks.start(items);
    claimed ||= items.length > 0;
  };
  for (let round = 0; round < TAKE_APART_ROUNDS; round++) {
    const room = isShort ? 0 : ITEMS_IN_FLIGHT_MAX - looks.singles();
    const { more } = await splitWebhooks(context, room, { deferred: putOff, onClaimed });
    if (!more) return { more: false, claimed };
  }
  return { more: true, claimed };
}

/** @param onRoom called whenever a look has ended. */
function createLooks(context: Context, client: ProviderClient, onRoom: () => void) {
  const verifier = createVerifier(context, client);
  const single = new Set<number>();
  const burst = new Set<number>();
  /** What came for a key while a look for it was under way. */
  const waiting = new Map<string, ClaimedItem[]>();
  const running = new Set<Promise<void>>();

  function run(work: Promise<void>): Promise<void> {
    const look: Promise<void> = work
      .catch((error: unknown) => context.log.error({ error: describeError(error) }, 'a look could not be written down'))
      .finally(() => {
        running.delete(look);
        onRoom();
      });
    running.add(look);
    return look;
  }

  /** @returns the groups that may be looked at now; the others wait for the look that is under way. */
  function enter(items: ClaimedItem[], kind: Set<number>): [string, ClaimedItem[]][] {
    for (const item of items) kind.add(item.seq);
    return [...Map.groupBy(items, formatItemKey)].filter(([key, group]) => {
      const joined = waiting.get(key);
      if (joined) joined.push(...group);
      else waiting.set(key, []);
      return !joined;
    });
  }

  function leave(key: string, items: ClaimedItem[]): void {
    for (const kind of [single, burst]) for (const { seq } of items) kind.delete(seq);
    const waited = waiting.get(key) ?? [];
    waiting.delete(key);
    // after the signal they are left to whoever comes next: their leases run out
    if (waited.length > 0 && !context.signal.aborted) start(waited);
  }

  function start(items: ClaimedItem[]): void {
    const groups = enter(items, single);
    if (groups.length > 0) void run(lookAtEach(groups));
  }

  async function lookAtEach(groups: Groups): Promise<void> {
    const admissions = await verifier.admit(groups.map(([, group]) => group));
    const looks = groups.map(([key, group], index) => {
      const admission = admissions[index];
      const look = admission ? verifier.verify(group, admission) : Promise.resolve();
      // each leaves by itself: a slow one holds up none of the others
      return run(look.finally(() => leave(key, group)));
    });
    await Promise.all(looks);
  }

  return {
    start,
    startBurst(items: ClaimedItem[]): void {
      const groups = enter(items, burst);
      void run(workBurst(context, client, verifier, { groups, leave }));
    },
    inBurst: () => burst.size > 0,
    singles: () => single.size,
    seqs: () => [...single, ...burst],
    async ended(): Promise<void> {
      await Promise.allSettled(running);
    },
  };
}

type Groups = [string, ClaimedItem[]][];

async function workBurst(
  context: Context,
  client: ProviderClient,
  verifier: Verifier,
  { groups, leave }: { groups: Groups; leave: (key: string, items: ClaimedItem[]) => void },
): Promise<void> {
  // a sender without a hit may ask for few of them: once one of these is a hit, the rest goes too
  const waiting = await workAdmitted(context, client, verifier, { groups, leave });
  const left = await workAdmitted(context, client, verifier, { groups: waiting, leave });
  const defer = async ([key, items]: Groups[number]): Promise<void> => {
    await verifier
      .verify(items, { kind: 'wait', waitsFor: 'sender', notBefore: undefined })
      .catch((error: unknown) => tell(context, error));
    leave(key, items);
  };
  await Promise.all(left.map(defer));
}

/** @returns the groups that may not be looked at now. */
async function workAdmitted(
  context: Context,
  client: ProviderClient,
  verifier: Verifier,
  { groups, leave }: { groups: Groups; leave: (key: string, items: ClaimedItem[]) => void },
): Promise<Groups> {
  const admissions = await verifier.admit(groups.map(([, items]) => items));
  const admitted = new Map<string, Admission>();
  const waiting: Groups = [];
  for (const [index, group] of groups.entries()) {
    const admission = admissions[index];
    // whatever fails, each group is left: a key that stayed would hold up its transaction for good
    if (!admission) leave(...group);
    else if (admission.kind === 'wait' && admission.waitsFor === 'sender') waiting.push(group);
    else admitted.set(group[0], admission);
  }
  await lookUpGroups(context, client, verifier, {
    groups: groups.filter(([key]) => admitted.has(key)),
    admitted,
    leave,
  });
  return waiting;
}

async function lookUpGroups(
  context: Context,
  client: ProviderClient,
  verifier: Verifier,
  burst: { groups: Groups; admitted: Map<string, Admission>; leave: (key: string, items: ClaimedItem[]) => void },
): Promise<void> {
  const { groups, admitted, leave } = burst;
  const claimed = groups.filter(([key]) => admitted.get(key)?.kind === 'show').flatMap(([, items]) => items);
  const met = await lookUpByDays(context, client, claimed).catch(() => new Map<string, FetchResult>());
  const [known, unknown]: [Groups, Groups] = [[], []];
  for (const group of groups) (met.has(group[1][0]?.transactionId ?? '') ? known : unknown).push(group);
  if (groups.length > 0)
    context.log.info({ looked_up: groups.length, met: known.length }, 'looked a burst of webhooks up in list pages');
  for (let from = 0; from < known.length; from += SETTLE_LOOKS_MAX) {
    const chunk = known.slice(from, from + SETTLE_LOOKS_MAX);
    const looks = chunk.flatMap(([key, items]) => {
      const found = met.get(items[0]?.transactionId ?? '');
      const admission = admitted.get(key);
      return found
        ? [{ items, result: found, chargedSender: admission?.kind === 'show' ? admission.chargedSender : undefined }]
        : [];
    });
    await verifier.settle(looks).catch((error: unknown) => tell(context, error));
    for (const [key, items] of chunk) leave(key, items);
  }
  const worker = async (): Promise<void> => {
    for (let group = unknown.shift(); group; group = unknown.shift()) {
      const [key, items] = group;
      const admission = admitted.get(key);
      if (admission && !context.signal.aborted)
        await verifier.verify(items, admission).catch((error: unknown) => tell(context, error));
      leave(key, items);
    }
  };
  await Promise.all(Array.from({ length: BURST_SHOWS_IN_FLIGHT }, worker));
}

function tell(context: Context, error: unknown): void {
  context.log.error({ error: describeError(error) }, 'a look of a burst could not be written down');
}
