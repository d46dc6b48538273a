import type { Context } from '../../context.ts';
import { append } from '../../domain/lists.ts';
import { describeError } from '../../log.ts';
import { callbackAttempts } from '../../metrics/metrics.ts';
import { runWorkerLoop } from '../../runtime/wake-signal.ts';
import { alertOutages, alertRecoveries, type MerchantOutage, selectTroubled } from '../health/alert-outages.ts';
import { pauseAndResume, type Ramps } from '../health/pause-and-resume.ts';
import { type ClaimRequest, type ClaimResult, claimCallbacks, claimProbe } from '../queue/claim-callbacks.ts';
import { offerSlots } from '../queue/claim-with-insert.ts';
import type { ClaimedCallback } from '../queue/claimed-callback.ts';
import { type DeliveryMerchant, readDeliveryMerchants } from '../queue/read-delivery-merchants.ts';
import {
  createSlots,
  giveSlotBack,
  limitIdle,
  limitOf,
  listLeased,
  reserveForNew,
  reserveSlot,
  type Slots,
  shareSlots,
  takeSlot,
  untrackCallback,
} from '../queue/slots.ts';
import {
  createPrepareSuccessor,
  type Dispatcher,
  dispatch,
  isSentFreely,
  isStale,
  readToSend,
  releaseAll,
} from './dispatch.ts';
import type { Recorded } from './record-attempts.ts';
import { createRecorder } from './recorder.ts';
import { type Attempt, openSender } from './send-attempt.ts';

export type { MerchantOutage } from '../health/alert-outages.ts';

const IDLE_MS = 250;
const IDLE_MS_MAX = 1_000;
/** Rounds that claim nothing, before the idle wait grows to IDLE_MS_MAX. */
const IDLE_ROUNDS = 20;
const UPKEEP_EVERY_MS = 1_000;
/** At shutdown, attempts in flight have this long to end. */
const DRAIN_MS = 10_000;
const GIVE_UP_MS = 3_000;

export type DeliveryOptions = {
  /** Called at least once for each outage of a merchant. */
  onOutage?: (outage: MerchantOutage) => Promise<void> | void;
  /** Called at least once when a merchant with a reported outage has taken a callback again. */
  onRecovery?: (merchantId: string) => Promise<void> | void;
};

type Delivery = Dispatcher & {
  options: DeliveryOptions;
  dispatches: Set<Promise<void>>;
  ramps: Ramps;
  upkeepAtMs: number;
  idleRounds: number;
  rounds: number;
};

/**
 * Delivers callbacks until the context's signal, then lets what is in flight end.
 *
 * A callback is `pending` (due at next_attempt_at; while it is in flight, its lease runs until then), `held` (its
 * merchant is paused, disabled, behind an open breaker, or has failed for a whole schedule), `delivered` or `failed`.
 * One round of the loop claims due callbacks of each merchant, up to its free slots, and commits. The attempts are sent in
 * parallel, and their outcomes are recorded in batches. Claiming, sending and recording overlap: an answer frees its slot
 * at once and wakes the loop. A merchant can fill only its own slots, and a callback waits only for older ones of its own
 * transaction: claimed together, they are sent one after another as each is delivered.
 *
 * Most callbacks need no round: the transaction that writes them claims them too, where a slot is free
 * (claim-with-insert.ts), and passes them on after its commit.
 */
export async function startDelivery(context: Context, options: DeliveryOptions = {}): Promise<void> {
  await using sender = openSender({ allowPrivate: context.config.CALLBACK_ALLOW_PRIVATE, timers: context.timers });
  const giveUp = new AbortController();
  const slots = createSlots();
  const onRecorded = (attempts: Attempt[], recorded: Recorded): void => {
    for (const { callback, response } of attempts) {
      untrackCallback(slots, callback);
      callbackAttempts.inc({ outcome: response.errorClass ?? 'delivered' });
    }
    if (recorded.woken > 0) context.wakeUps.callbacks.notify();
  };
  const recorder = createRecorder(context, onRecorded, giveUp.signal);
  const dispatches = new Set<Promise<void>>();
  const delivery: Delivery = {
    ...{ context, options, sender, recorder, slots, dispatches, merchants: new Map() },
    prepareSuccessor: createPrepareSuccessor(context),
    ...{ ramps: new Map(), upkeepAtMs: Number.NEGATIVE_INFINITY, idleRounds: 0, rounds: 0 },
  };
  const offer = offerFreeSlots(delivery);
  await runWorkerLoop({
    name: 'callbacks',
    work: async () => {
      await runRound(delivery);
      // only an answer or a new event gives more to claim, and both wake the loop
      return false;
    },
    hasWork: () => hasWork(delivery),
    wakeUp: context.wakeUps.callbacks,
    idleMs: () => (delivery.idleRounds > IDLE_ROUNDS && dispatches.size === 0 ? IDLE_MS_MAX : IDLE_MS),
    context,
  });
  offer[Symbol.dispose]();
  await Promise.race([Promise.all(dispatches), context.timers.sleep(DRAIN_MS, { ref: false })]);
  sender.abort();
  await Promise.all(dispatches);
  await Promise.race([recorder.flushed(), context.timers.sleep(GIVE_UP_MS, { ref: false })]);
  giveUp.abort();
}

/** Whether a callback is open, or a merchant needs a probe or an alert: without these, no round does anything. */
async function hasWork(delivery: Delivery): Promise<boolean> {
  const { db, poll } = delivery.context;
  const found = await poll(() => [
    db.selectFrom('callbacks').select('seq').where('state', 'in', ['pending', 'held']),
    selectTroubled(db).select('seq'),
  ]);
  if (!found) delivery.idleRounds++;
  return found;
}

async function runRound(delivery: Delivery): Promise<void> {
  const { dispatches } = delivery;
  await keepUp(delivery);
  const merchants = await readMerchants(delivery);
  const claimed = await claim(delivery, merchants);
  delivery.idleRounds = claimed.length > 0 ? 0 : delivery.idleRounds + 1;
  if (claimed.length === 0) return;
  const dispatched = dispatch(delivery, claimed).finally(() => dispatches.delete(dispatched));
  dispatches.add(dispatched);
}

async function keepUp(delivery: Delivery): Promise<void> {
  const { timers } = delivery.context;
  if (timers.monotonicMs() < delivery.upkeepAtMs) return;
  const { drained, hasNews } = await pauseAndResume(delivery.context, delivery.ramps);
  delivery.upkeepAtMs = timers.monotonicMs() + UPKEEP_EVERY_MS;
  if (drained > 0) delivery.idleRounds = 0;
  if (!hasNews) return;
  const { onOutage, onRecovery } = delivery.options;
  try {
    // recoveries first: a merchant that fails again gets a new alert
    if (onRecovery) await alertRecoveries(delivery.context, onRecovery);
    if (onOutage) await alertOutages(delivery.context, onOutage);
  } catch (error) {
    // the alert may fail: delivery continues, and the next upkeep retries it
    delivery.context.log.error(
      { error: describeError(error) },
      'alerts about merchants could not be raised; the next upkeep retries',
    );
  }
}

async function claim(delivery: Delivery, merchants: DeliveryMerchant[]): Promise<ClaimedCallback[]> {
  const { context, slots } = delivery;
  // while slots are scarce, a different merchant comes first in each round
  const first = delivery.rounds++ % Math.max(1, merchants.length);
  const inTurn = [...merchants.slice(first), ...merchants.slice(0, first)];
  const shares = shareSlots(
    slots,
    inTurn.map((merchant) => merchant.seq),
    context.timers.monotonicMs(),
  );
  const wants = inTurn.flatMap((merchant) => {
    const share = shares.get(merchant.seq);
    return share === undefined ? [] : [{ merchant, slots: share, idleSlots: limitIdle(slots, merchant.seq, share) }];
  });
  const claimed: ClaimedCallback[] = [];
  for (const { merchant } of wants.filter((want) => want.merchant.probeIsDue)) {
    append(claimed, await claimProbe(context, merchant, listLeased(slots)));
  }
  takeSlots(slots, claimed);
  if (wants.length > 0) {
    const due = await claimDue(delivery, wants);
    append(claimed, due.claimed);
    for (const { merchant } of wants) {
      const limit = limitOf(slots, merchant.seq);
      limit.isSaturated = due.saturated.has(merchant.seq);
      limit.mayHaveMore = limit.isSaturated;
    }
  }
  return claimed;
}

/** Claims due callbacks and takes their slots. These are reserved before: new callbacks must not take them meanwhile. */
async function claimDue({ context, slots }: Delivery, wants: ClaimRequest[]): Promise<ClaimResult> {
  const reserved: number[] = [];
  const reserve = (merchantSeq: number): boolean => {
    if (!reserveSlot(slots, merchantSeq)) return false;
    reserved.push(merchantSeq);
    return true;
  };
  try {
    const due = await claimCallbacks(context, wants, listLeased(slots), reserve);
    takeSlots(slots, due.claimed);
    return due;
  } finally {
    for (const merchantSeq of reserved) giveSlotBack(slots, merchantSeq);
  }
}

function takeSlots(slots: Slots, claimed: ClaimedCallback[]): void {
  for (const callback of claimed) {
    takeSlot(slots, callback);
    for (const { seq } of callback.successors) slots.successors.add(seq);
  }
}

/** Offers free slots of the merchants that the last round read to transactions of this process (claim-with-insert.ts). */
function offerFreeSlots(delivery: Delivery): Disposable {
  const { context, slots, dispatches } = delivery;
  return offerSlots(context, {
    reserve(merchantSeq) {
      const merchant = delivery.merchants.get(merchantSeq);
      const isFree = merchant !== undefined && !merchant.holdsBack && merchant.rate === null;
      return isFree && reserveForNew(slots, merchantSeq, context.timers.monotonicMs());
    },
    giveBack: (merchantSeq) => giveSlotBack(slots, merchantSeq),
    async take(claimed, claimedAtMs) {
      for (const { merchantSeq } of claimed) giveSlotBack(slots, merchantSeq);
      // the commit took too long: they are claimed again when their leases run out
      if (isStale(context, claimedAtMs)) return;
      takeSlots(slots, claimed);
      const sent = sendTaken(delivery, claimed, claimedAtMs).finally(() => dispatches.delete(sent));
      dispatches.add(sent);
      // the delivery may have ended: nothing else waits for the release
      if (context.signal.aborted) await sent;
    },
  });
}

/** Sends callbacks that their own transaction claimed, unless their merchant has changed since. Never throws. */
async function sendTaken(delivery: Delivery, claimed: ClaimedCallback[], claimedAtMs: number): Promise<void> {
  const { context } = delivery;
  const reading = readToSend(context, claimed);
  // `dispatch` reports what fails, and releases all
  const toSend = await reading.catch(() => undefined);
  const mayBeSent = ({ seq }: ClaimedCallback): boolean =>
    toSend === undefined || (!context.signal.aborted && isSentFreely(toSend.get(seq)?.to));
  const { true: ready = [], false: others = [] } = Object.groupBy(claimed, (one) => `${mayBeSent(one)}` as const);
  if (others.length > 0)
    await releaseAll(
      delivery,
      others.flatMap((one) => [one, ...one.successors]),
    );
  if (ready.length > 0) await dispatch(delivery, ready, claimedAtMs, reading);
}

async function readMerchants(delivery: Delivery): Promise<DeliveryMerchant[]> {
  const merchants = await readDeliveryMerchants(delivery.context);
  delivery.merchants = new Map(merchants.map((merchant) => [merchant.seq, merchant]));
  return merchants;
}
