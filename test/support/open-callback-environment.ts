import { randomUUID } from 'node:crypto';
import { type DeliveryOptions, startDelivery } from '../../src/callbacks/deliver/deliver.ts';
import { ATTEMPT_MS_MAX } from '../../src/callbacks/deliver/send-attempt.ts';
import type { Context } from '../../src/context.ts';
import type { Operation } from '../../src/domain/statuses.ts';
import { applyObservations } from '../../src/ledger/apply/apply-observations.ts';
import { createMerchant } from '../../src/merchants/change-merchants.ts';
import type { NewMerchant } from '../../src/merchants/check-merchant.ts';
import type { MerchantRow } from '../../src/merchants/read-merchants.ts';
import { eventually } from './eventually.ts';
import { observe, type ShownTransaction } from './make-observations.ts';
import { openEnvironment, type TestEnvironment } from './open-environment.ts';
import type { TestTimers } from './test-timers.ts';

/** Far below the time-out of an attempt, which takes 75 steps. */
const STEP_MS = 200;
const LONG_AGO = new Date('2020-01-01T00:00:00Z');

/** An environment with merchants, payments, and deliveries that stop with it. */
export type CallbackEnvironment = TestEnvironment & {
  /** Starts a delivery with its own connections and holder, like another replica. Changes in the environment wake it. */
  deliver(options?: DeliveryOptions, env?: Record<string, string>): Promise<{ stop(): Promise<void> }>;
  /** Starts a delivery on the environment's own context or `own`, as one process that also writes callbacks has it. */
  deliverHere(own?: Context): { stop(): Promise<void> };
  addMerchant(url: string, more?: Partial<NewMerchant>): Promise<{ merchant: MerchantRow; secret: string }>;
  /** Waits for a condition and advances the timers in short steps: retries and upkeep become due one by one. */
  advanceUntil<T>(what: string, ask: () => T | Promise<T>): Promise<Exclude<NonNullable<T>, false>>;
  /** Applies a transaction with a history, oldest first, to the ledger. */
  applyTransaction(statuses: string[], facts?: TransactionFacts): Promise<AppliedTransaction>;
  /** Applies `count` transactions with the same history at once. */
  applyTransactions(count: number, statuses: string[], facts?: TransactionFacts): Promise<AppliedTransaction[]>;
  /** Applies the same transaction with more events. */
  appendEvents(paid: AppliedTransaction, statuses: string[]): Promise<void>;
};

export type TransactionFacts = Partial<{
  operation: Operation;
  reference: string;
  extra: string;
  platform: string;
  name: string;
}>;
export type AppliedTransaction = { id: string; shown: ShownTransaction };

export async function openCallbackEnvironment(
  env: Record<string, string> = {},
  on?: { socketPath: string; database: string },
): Promise<CallbackEnvironment> {
  const environment = await openEnvironment({ CALLBACK_RETRY_SCHEDULE: '1s,1s,1s,1s', ...env }, on);
  const { context } = environment;
  return {
    ...environment,
    deliver: async (options = {}, more = {}) =>
      environment.use(startReplica(await environment.replica(more), context, options, environment.timers)),
    deliverHere: (own = context) => environment.use(startReplica(own, context, {}, environment.timers)),
    advanceUntil: (what, ask) =>
      eventually(what, async () => {
        await environment.timers.advance(STEP_MS);
        return ask();
      }),
    addMerchant: (url, more = {}) => createMerchant(context, { name: 'shop', url, eventsSince: LONG_AGO, ...more }),
    applyTransaction: async (statuses, facts = {}) => {
      const [paid] = await payMany(context, 1, statuses, facts);
      if (!paid) throw new Error('nothing was paid');
      return paid;
    },
    applyTransactions: (count, statuses, facts = {}) => payMany(context, count, statuses, facts),
    appendEvents: (paid, statuses) => addEvents(context, [paid], statuses),
  };
}

/** Starts a delivery with the wake-up signal of the shared context, as web and worker in one process have it. */
function startReplica(own: Context, shared: Context, options: DeliveryOptions, timers: TestTimers) {
  const stopping = new AbortController();
  const signal = AbortSignal.any([own.signal, stopping.signal]);
  // one clock for both: in frozen time the slower of two clocks would never see a callback due
  const context = {
    ...own,
    clock: shared.clock,
    signal,
    wakeUps: { ...own.wakeUps, callbacks: shared.wakeUps.callbacks },
  };
  let hasEnded = false;
  const ended = startDelivery(context, options).finally(() => {
    hasEnded = true;
  });
  return {
    async stop() {
      stopping.abort();
      await ended;
    },
    /** Lets attempts that hang time out at once, by advancing the timers, and waits for the delivery to end. */
    async [Symbol.asyncDispose]() {
      stopping.abort();
      while (!hasEnded) await timers.advance(ATTEMPT_MS_MAX);
      await ended;
    },
  };
}

async function payMany(
  context: Context,
  count: number,
  statuses: string[],
  facts: TransactionFacts,
): Promise<AppliedTransaction[]> {
  const paid = Array.from({ length: count }, () => {
    const shown: ShownTransaction = {
      id: randomUUID(),
      operation: 'cashin',
      status: 'pending',
      amount: '123.45',
      commission: '0.99',
      date_created: wallNow(context),
      name: 'Maria',
      events: [],
      ...facts,
    };
    return { id: shown.id, shown };
  });
  await addEvents(context, paid, statuses);
  return paid;
}

async function addEvents(context: Context, paid: AppliedTransaction[], statuses: string[]): Promise<void> {
  for (const { shown } of paid) {
    for (const status of statuses) shown.events.unshift({ status, date_created: wallNow(context) });
    shown.status = shown.events[0]?.status ?? 'pending';
  }
  const askedAt = context.clock.now();
  await applyObservations(
    context,
    paid.map(({ shown }) => observe(shown, askedAt)),
  );
}

function wallNow(context: Context): string {
  return context.calendar.toWallTime(context.clock.now());
}
