import type { Context } from '../../context.ts';
import { describeError } from '../../log.ts';
import { callbackAttempts } from '../../metrics/metrics.ts';
import { runWorkerLoop } from '../../runtime/wake-signal.ts';
import { alertOutages, alertRecoveries, type MerchantOutage } from '../health/alert-outages.ts';
import { pauseAndResume, type Ramps } from '../health/pause-and-resume.ts';
import { claimCallbacks, claimProbe } from '../queue/claim-callbacks.ts';
import type { ClaimedCallback } from '../queue/claimed-callback.ts';
import { type DeliveryMerchant, readDeliveryMerchants } from '../queue/read-delivery-merchants.ts';
import { createSlots, limitOf, listLeased, shareSlots, takeSlot, untrackCallback } from '../queue/slots.ts';
import { createPrepareSuccessor, type Dispatcher, dispatch } from './dispatch.ts';
import type { Recorded } from './record-attempts.ts';
import { createRecorder } from './recorder.ts';
import type { Attempt } from './send-attempt.ts';
import { openSender } from './send-attempt.ts';

export type { MerchantOutage } from '../health/alert-outages.ts';

const IDLE_MS = 250;
const IDLE_MS_MAX = 1_000;
/** Looks that found nothing, before they become rarer. */
const IDLE_LOOKS = 20;
const UPKEEP_EVERY_MS = 1_000;
/** What is in flight when the process is told to stop has this long to end. */
const DRAIN_MS = 10_000;
const GIVE_UP_MS = 3_000;

export type DeliveryOptions = {
  /** Called at least once for each trouble of a merchant. */
  onOutage?: (trouble: MerchantOutage) => Promise<void> | void;
  /** Called at least once when a merchant that was told of has taken a callback again. */
  onRecovery?: (merchantId: string) => Promise<void> | void;
};

type Delivery = Dispatcher & {
  options: DeliveryOptions;
  dispatches: Set<Promise<void>>;
  ramps: Ramps;
  upkeepAtMs: number;
  idleLooks: number;
  looks: number;
};

/**
 * Delivers callbacks until the context's signal, then lets what is in flight end.
 *
 * A callback is `pending` (due at next_attempt_at; while it is in flight, its lease runs until then), `held` (its
 * merchant is paused, disabled, behind an open breaker, or has been away for a whole schedule), `delivered` or `failed`.
 * One look claims what is due for each merchant, as much as it has places for, and commits; the attempts are sent side
 * by side; what came of them is recorded in batches. Claiming, sending and recording overlap: an answer frees its place
 * at once and rings for the next look. A merchant can only ever fill its own places, and a callback waits only for older
 * ones of its own transaction: claimed together, they go one after another as each is delivered.
 */
export async function startDelivery(context: Context, options: DeliveryOptions = {}): Promise<void> {
  await using sender = openSender({ allowPrivate: context.config.CALLBACK_ALLOW_PRIVATE, timers: context.timers });
  const giveUp = new AbortController();
  const places = createSlots();
  const onRecorded = (attempts: Attempt[], recorded: Recorded): void => {
    for (const { callback, response: answer } of attempts) {
      untrackCallback(places, callback);
      callbackAttempts.inc({ outcome: answer.errorClass ?? 'delivered' });
    }
    if (recorded.woken > 0) context.wakeUps.callbacks.notify();
  };
  const recorder = createRecorder(context, onRecorded, giveUp.signal);
  const dispatches = new Set<Promise<void>>();
  const delivery: Delivery = {
    ...{ context, options, sender, recorder, slots: places, dispatches, merchants: new Map() },
    prepareSuccessor: createPrepareSuccessor(context),
    ...{ ramps: new Map(), upkeepAtMs: Number.NEGATIVE_INFINITY, idleLooks: 0, looks: 0 },
  };
  await runWorkerLoop({
    name: 'callbacks',
    work: () => look(delivery),
    wakeUp: context.wakeUps.callbacks,
    idleMs: IDLE_MS,
    context,
  });
  await Promise.race([Promise.all(dispatches), context.timers.sleep(DRAIN_MS, { ref: false })]);
  sender.abort();
  await Promise.all(dispatches);
  await Promise.race([recorder.flushed(), context.timers.sleep(GIVE_UP_MS, { ref: false })]);
  giveUp.abort();
}

/** @returns whether to look again at once: only an answer or a new event gives more to claim, and both ring. */
async function look(delivery: Delivery): Promise<boolean> {
  const { context, dispatches } = delivery;
  await keepUp(delivery);
  const merchants = await readDeliveryMerchants(context);
  delivery.merchants = new Map(merchants.map((merchant) => [merchant.seq, merchant]));
  const claimed = await claim(delivery, merchants);
  if (claimed.length > 0) {
    delivery.idleLooks = 0;
    const dispatched = dispatch(delivery, claimed).finally(() => dispatches.delete(dispatched));
    dispatches.add(dispatched);
    return false;
  }
  if (++delivery.idleLooks <= IDLE_LOOKS || dispatches.size > 0) return false;
  await context.wakeUps.callbacks.wait(IDLE_MS_MAX, context.signal);
  return true;
}

async function keepUp(delivery: Delivery): Promise<void> {
  const { timers } = delivery.context;
  if (timers.monotonicMs() < delivery.upkeepAtMs) return;
  const { drained } = await pauseAndResume(delivery.context, delivery.ramps);
  delivery.upkeepAtMs = timers.monotonicMs() + UPKEEP_EVERY_MS;
  if (drained > 0) delivery.idleLooks = 0;
  const { onOutage: onTrouble, onRecovery } = delivery.options;
  try {
    // recoveries first: whoever is in trouble again is told of anew
    if (onRecovery) await alertRecoveries(delivery.context, onRecovery);
    if (onTrouble) await alertOutages(delivery.context, onTrouble);
  } catch (error) {
    // whoever is told may fail: callbacks go on, and it is told again at the next upkeep
    delivery.context.log.error({ error: describeError(error) }, 'could not tell of merchants in trouble');
  }
}

async function claim(delivery: Delivery, merchants: DeliveryMerchant[]): Promise<ClaimedCallback[]> {
  const { context, slots: places } = delivery;
  // where places run short, another merchant is the first each time
  const first = delivery.looks++ % Math.max(1, merchants.length);
  const inTurn = [...merchants.slice(first), ...merchants.slice(0, first)];
  const shares = shareSlots(
    places,
    inTurn.map((merchant) => merchant.seq),
    context.timers.monotonicMs(),
  );
  const wants = inTurn.flatMap((merchant) => {
    const share = shares.get(merchant.seq);
    return share === undefined ? [] : [{ merchant, slots: share }];
  });
  const held = listLeased(places);
  const claimed: ClaimedCallback[] = [];
  for (const { merchant } of wants.filter((want) => want.merchant.probeIsDue)) {
    claimed.push(...(await claimProbe(context, merchant, held)));
  }
  if (wants.length > 0) {
    const due = await claimCallbacks(context, wants, held);
    claimed.push(...due.claimed);
    for (const { merchant } of wants) limitOf(places, merchant.seq).mayHaveMore = due.saturated.has(merchant.seq);
  }
  for (const callback of claimed) {
    takeSlot(places, callback);
    for (const { seq } of callback.successors) places.successors.add(seq);
  }
  return claimed;
}
