import { randomBytes, randomUUID } from 'node:crypto';
import { type DeliveryOptions, startDelivery } from '../../../src/callbacks/deliver.ts';
import { type CallbackCause, enqueueCallbacks } from '../../../src/callbacks/enqueue.ts';
import { readConfig } from '../../../src/config.ts';
import { type Context, openContext } from '../../../src/context.ts';
import { transact } from '../../../src/database/transact.ts';
import type { Operation } from '../../../src/domain/statuses.ts';
import { createLog } from '../../../src/log.ts';
import { createMerchant, type NewMerchant } from '../../../src/merchants/change-merchants.ts';
import type { MerchantRow } from '../../../src/merchants/read-merchants.ts';
import { freshDatabase } from '../../support/database.ts';

const LONG_AGO = new Date('2020-01-01T00:00:00Z');
const DONE_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 10;

/** A context on a database of its own, and deliveries that stop with it. */
export type World = {
  context: Context;
  env: Record<string, string>;
  /** Starts a delivery as a replica with its own connections and holder would, which the world's changes wake. */
  deliver(options?: DeliveryOptions, env?: Record<string, string>): Promise<{ stop(): Promise<void> }>;
  addMerchant(url: string, more?: Partial<NewMerchant>): Promise<{ merchant: MerchantRow; secret: string }>;
  /** Writes a transaction with a history, oldest first, and its callbacks, as the ledger does. */
  pay(statuses: string[], facts?: TransactionFacts): Promise<Paid>;
  /** Adds events to a transaction, and their callbacks. */
  change(paid: Paid, statuses: string[]): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

export type TransactionFacts = Partial<{
  operation: Operation;
  reference: string;
  extra: string;
  platform: string;
  name: string;
}>;
export type Paid = { seq: number; id: string; history: string[]; operation: Operation; facts: TransactionFacts };

export async function openWorld(
  env: Record<string, string> = {},
  on?: { socketPath: string; database: string },
): Promise<World> {
  const database = on ?? (await freshDatabase());
  const all = {
    DATABASE_URL: `mysql://root@localhost/${database.database}?socket=${encodeURIComponent(database.socketPath)}`,
    SECRET_KEY: randomBytes(32).toString('base64'),
    CALLBACK_ALLOW_PRIVATE: 'true',
    CALLBACK_RETRY_SCHEDULE: '1s,1s,1s,1s',
    LOG_LEVEL: 'silent',
    ...env,
  };
  const context = await openWith(all, new AbortController().signal, true);
  const running: Array<{ stop(): Promise<void> }> = [];
  return {
    context,
    env: all,
    async deliver(options = {}, more = {}) {
      const delivery = await startReplica({ ...all, ...more }, context, options);
      running.push(delivery);
      return delivery;
    },
    addMerchant: (url, more = {}) => createMerchant(context, { name: 'shop', url, eventsSince: LONG_AGO, ...more }),
    pay: (statuses, facts = {}) => pay(context, statuses, facts),
    change: (paid, statuses) => addEvents(context, paid, statuses),
    async [Symbol.asyncDispose]() {
      await Promise.all(running.map((delivery) => delivery.stop()));
      await context[Symbol.asyncDispose]();
    },
  };
}

async function openWith(env: Record<string, string>, signal: AbortSignal, migrates: boolean): Promise<Context> {
  return openContext(readConfig(env), { log: createLog('silent', process.stderr), signal, migrates });
}

/** A delivery with a context of its own, whose bell the shared context rings too: web and worker in one process. */
async function startReplica(env: Record<string, string>, shared: Context, options: DeliveryOptions) {
  const stopping = new AbortController();
  const own = await openWith(env, stopping.signal, false);
  const context = { ...own, bells: { ...own.bells, callbacks: shared.bells.callbacks } };
  const ended = startDelivery(context, options);
  return {
    async stop() {
      if (stopping.signal.aborted) return;
      stopping.abort();
      await ended;
      await own[Symbol.asyncDispose]();
    },
  };
}

async function pay(context: Context, statuses: string[], facts: TransactionFacts): Promise<Paid> {
  const id = randomUUID();
  const operation = facts.operation ?? 'cashin';
  const now = context.clock.now();
  const row = {
    id,
    operation,
    status: statuses.at(-1) ?? 'pending',
    status_wall: context.calendar.toWall(now),
    sequence: statuses.length,
    event_count: statuses.length,
    amount_cents: 12_345n,
    commission_cents: 99n,
    reference: facts.reference ?? null,
    extra: facts.extra ?? null,
    platform: facts.platform ?? null,
    created_wall: context.calendar.toWall(now),
    digest: randomBytes(32),
    asked_at: now,
    first_seen_at: now,
  };
  const { insertId } = await context.db.insertInto('transactions').values(row).executeTakeFirstOrThrow();
  const seq = Number(insertId);
  await context.db
    .insertInto('parties')
    .values({ transaction_seq: seq, name: facts.name ?? 'Maria' })
    .execute();
  const paid: Paid = { seq, id, history: [], operation, facts };
  await addEvents(context, paid, statuses);
  return paid;
}

async function addEvents(context: Context, paid: Paid, statuses: string[]): Promise<void> {
  await transact(context.db, async (trx) => {
    const causes: CallbackCause[] = [];
    for (const status of statuses) {
      const previousStatus = paid.history.at(-1) ?? null;
      const occurrence = paid.history.filter((one) => one === status).length;
      paid.history.push(status);
      const sequence = paid.history.length;
      const at = new Date(Math.floor(context.clock.now().getTime() / 1000) * 1000);
      const atWall = context.calendar.toWall(at);
      const event = {
        transaction_seq: paid.seq,
        status,
        at_wall: atWall,
        occurrence,
        position: sequence - 1,
        sequence,
      };
      const written = await trx
        .insertInto('events')
        .values({ ...event, inferred: 0, seen_at: context.clock.now(), source_kind: 'show' })
        .executeTakeFirstOrThrow();
      const { reference = null, extra = null, platform = null } = paid.facts;
      causes.push({
        transaction: { seq: paid.seq, id: paid.id, operation: paid.operation, reference, extra, platform },
        event: { seq: Number(written.insertId), status, at, atWall, occurrence, sequence },
        previousStatus,
        source: 'webhook',
      });
    }
    const status = paid.history.at(-1) ?? 'pending';
    await trx.updateTable('transactions').set({ status }).where('seq', '=', paid.seq).execute();
    await enqueueCallbacks(context, trx, causes);
  });
  context.bells.callbacks.ring();
}

/** Waits until something holds: as long as it takes, within half a minute. */
export async function until<T>(what: string, look: () => T | Promise<T>): Promise<NonNullable<T>> {
  const deadline = Date.now() + DONE_WITHIN_MS;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
