import { randomUUID } from 'node:crypto';
import { type DeliveryOptions, startDelivery } from '../../src/callbacks/deliver.ts';
import type { Context } from '../../src/context.ts';
import type { Operation } from '../../src/domain/statuses.ts';
import { applyObservations } from '../../src/ledger/apply.ts';
import { createMerchant, type NewMerchant } from '../../src/merchants/change-merchants.ts';
import type { MerchantRow } from '../../src/merchants/read-merchants.ts';
import { openEnvironment, type TestEnvironment } from './environment.ts';
import { observe, type ShownTransaction } from './observations.ts';

const LONG_AGO = new Date('2020-01-01T00:00:00Z');

/** An environment with merchants, payments, and deliveries that stop with it. */
export type CallbackEnvironment = TestEnvironment & {
  /** Starts a delivery with its own connections and holder, as another replica would. The environment's changes wake it. */
  deliver(options?: DeliveryOptions, env?: Record<string, string>): Promise<{ stop(): Promise<void> }>;
  addMerchant(url: string, more?: Partial<NewMerchant>): Promise<{ merchant: MerchantRow; secret: string }>;
  /** Applies a transaction with a history, oldest first, to the ledger. */
  pay(statuses: string[], facts?: TransactionFacts): Promise<Paid>;
  /** Applies the same transaction with more events. */
  change(paid: Paid, statuses: string[]): Promise<void>;
};

export type TransactionFacts = Partial<{
  operation: Operation;
  reference: string;
  extra: string;
  platform: string;
  name: string;
}>;
export type Paid = { id: string; shown: ShownTransaction };

export async function openCallbackEnvironment(
  env: Record<string, string> = {},
  on?: { socketPath: string; database: string },
): Promise<CallbackEnvironment> {
  const environment = await openEnvironment({ CALLBACK_RETRY_SCHEDULE: '1s,1s,1s,1s', ...env }, on);
  const { context } = environment;
  return {
    ...environment,
    deliver: async (options = {}, more = {}) =>
      environment.use(startReplica(await environment.replica(more), context, options)),
    addMerchant: (url, more = {}) => createMerchant(context, { name: 'shop', url, eventsSince: LONG_AGO, ...more }),
    pay: (statuses, facts = {}) => pay(context, statuses, facts),
    change: (paid, statuses) => addEvents(context, paid, statuses),
  };
}

/** A delivery whose wake-up signal the shared context also gives: web and worker in one process. */
function startReplica(own: Context, shared: Context, options: DeliveryOptions) {
  const stopping = new AbortController();
  const signal = AbortSignal.any([own.signal, stopping.signal]);
  const context = { ...own, signal, bells: { ...own.bells, callbacks: shared.bells.callbacks } };
  const ended = startDelivery(context, options);
  const stop = async (): Promise<void> => {
    stopping.abort();
    await ended;
  };
  return { stop, [Symbol.asyncDispose]: stop };
}

async function pay(context: Context, statuses: string[], facts: TransactionFacts): Promise<Paid> {
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
  const paid = { id: shown.id, shown };
  await addEvents(context, paid, statuses);
  return paid;
}

async function addEvents(context: Context, { shown }: Paid, statuses: string[]): Promise<void> {
  for (const status of statuses) shown.events.unshift({ status, date_created: wallNow(context) });
  shown.status = shown.events[0]?.status ?? 'pending';
  await applyObservations(context, [observe(shown, context.clock.now())]);
}

function wallNow(context: Context): string {
  return context.calendar.toWall(context.clock.now());
}
