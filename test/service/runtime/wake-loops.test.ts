/** What another process commits announces itself to no loop of this one: each finds it within its documented time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { audit } from '../../../src/access/audit.ts';
import { raiseAlerts } from '../../../src/alerts/raise-alerts.ts';
import type { Context } from '../../../src/context.ts';
import { transact } from '../../../src/database/transact.ts';
import { createReceiver } from '../../../src/inbox/receive/receive.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { startRun } from '../../../src/reconciliation/runs/start-run.ts';
import { readWatermark } from '../../../src/seal/await-watermark.ts';
import { readNewestSeal } from '../../../src/seal/read-seals.ts';
import { eventually } from '../../support/eventually.ts';
import { observe } from '../../support/make-observations.ts';
import { openMerchantServer } from '../../support/open-merchant-server.ts';
import { openServedEnvironment, type ServedEnvironment } from '../../support/open-served-environment.ts';
import { API_KEY } from '../../support/start-serve.ts';
import { TestProvider } from '../../support/test-provider.ts';

const LONG_AGO = new Date('2020-01-01T00:00:00Z');
const ID = '0190a1b2-0000-7000-8000-00000000000a';

const stack = new AsyncDisposableStack();
const merchants = stack.use(await openMerchantServer());
const provider = stack.use(await new TestProvider(API_KEY).listen());
let served: ServedEnvironment;
let other: Context;

beforeAll(async () => {
  // without jobs: the watch runs each minute of the machine's clock and wakes the loop of alerts
  const only = { sides: { web: false, worker: true }, env: { JOBS: 'off' } };
  served = stack.use(await openServedEnvironment({ providerUrl: provider.url, ...only }));
  // one clock: in frozen time the slower of two would never see the other's work due
  other = { ...(await served.replica()), clock: served.context.clock };
  await eventually('the first seal', () => readNewestSeal(other.db));
  served.timers.freeze();
});
afterAll(() => stack.disposeAsync());

async function isAllSealed(): Promise<boolean> {
  const head = await readNewestSeal(other.db);
  const { entrySeq, auditSeq } = await readWatermark(other.db);
  return head !== undefined && head.entrySeq >= entrySeq && head.auditSeq >= auditSeq;
}

async function countOpenCallbacks(): Promise<number> {
  const open = await other.db.selectFrom('callbacks').select('seq').where('state', '!=', 'delivered').execute();
  return open.length;
}

async function readTransaction(): Promise<{ seq: number }> {
  return await other.db.selectFrom('transactions').select('seq').where('id', '=', ID).executeTakeFirstOrThrow();
}

/** Whether the merchant has this time. */
async function hasMerchant(time: 'warned_at' | 'recovered_at'): Promise<boolean> {
  const [merchant] = await other.db.selectFrom('merchants').select(time).execute();
  return merchant?.[time] instanceof Date;
}

type Written = () => Promise<boolean>;

const WORK: { name: string; withinMs: number; write: () => Promise<Written> }[] = [
  {
    name: 'the transaction of a webhook is fetched',
    withinMs: 500,
    async write() {
      const body = Buffer.from(JSON.stringify({ transaction_id: ID, status: 'paid' }));
      await createReceiver(other, undefined)({ body, address: '127.0.0.1', headers: {} });
      return async () => provider.count('show') > 0;
    },
  },
  {
    name: 'the backfill of a merchant goes on',
    withinMs: 500,
    async write() {
      const url = `${merchants.url}/hook`;
      const { merchant } = await createMerchant(other, { name: 'shop', url, eventsSince: LONG_AGO });
      return async () => {
        const row = await other.db
          .selectFrom('backfills')
          .select('state')
          .where('merchant_seq', '=', merchant.seq)
          .executeTakeFirst();
        return row !== undefined && row.state !== 'waiting';
      };
    },
  },
  {
    name: 'a callback is sent',
    withinMs: 1_000,
    async write() {
      const now = other.clock.now();
      const wall = other.calendar.toWallTime(now);
      const events = [{ status: 'paid', date_created: wall }];
      const facts = { operation: 'cashin', status: 'paid', amount: '1.00', date_created: wall } as const;
      await applyObservations(other, [observe({ id: ID, ...facts, events }, now)]);
      return async () => merchants.callsTo('/hook').length > 0;
    },
  },
  {
    name: 'a disabled merchant without an open callback is reported',
    withinMs: 1_000,
    async write() {
      await eventually('the callback is recorded', async () => {
        await served.timers.advance(100);
        return (await countOpenCallbacks()) === 0;
      });
      await sleep(ROUND_MS);
      await other.db.updateTable('merchants').set({ state: 'disabled' }).execute();
      return () => hasMerchant('warned_at');
    },
  },
  {
    name: 'its recovery is reported',
    withinMs: 1_000,
    async write() {
      const recovered = { state: 'enabled', warned_at: null, recovered_at: other.clock.now() };
      await other.db.updateTable('merchants').set(recovered).execute();
      return async () => !(await hasMerchant('recovered_at'));
    },
  },
  {
    name: 'an audit row is sealed',
    withinMs: 1_000,
    async write() {
      await audit(other, { actor: 'command', action: 'test', target: 'loops' });
      const { seq } = await other.db.selectFrom('audit').select('seq').orderBy('seq', 'desc').executeTakeFirstOrThrow();
      return async () => ((await readNewestSeal(other.db))?.auditSeq ?? 0) >= seq;
    },
  },
  {
    name: 'an alert is sent',
    withinMs: 5_000,
    async write() {
      const alert = { name: 'restore_unconfirmed', scope: 'loops', severity: 'high', summary: 'a test' } as const;
      await transact(other.db, (trx) => raiseAlerts(trx, [alert], other.clock.now()));
      return async () => {
        const sent = await other.db
          .selectFrom('alert_sends')
          .innerJoin('alerts', 'alerts.seq', 'alert_seq')
          .select('sent_at')
          .where('scope', '=', 'loops')
          .executeTakeFirst();
        return sent?.sent_at instanceof Date;
      };
    },
  },
  {
    name: 'a doubted transaction is fetched',
    withinMs: 5_000,
    async write() {
      const [{ seq }, now] = [await readTransaction(), other.clock.now()];
      const doubt = { transaction_seq: seq, transaction_id: ID, noticed_at: now, due_at: now };
      await other.db.insertInto('doubted_statuses').values(doubt).execute();
      return async () => {
        const row = await other.db.selectFrom('doubted_statuses').select('due_at').executeTakeFirst();
        return row?.due_at?.getTime() !== now.getTime();
      };
    },
  },
  {
    name: 'a run is claimed',
    withinMs: 2_000,
    async write() {
      const day = other.calendar.dayOf(other.clock.now());
      const { seq } = await startRun(other, { from: day, to: day, trigger: 'api', createdBy: 'test' });
      return async () => {
        const row = await other.db.selectFrom('runs').select('state').where('seq', '=', seq).executeTakeFirst();
        return row?.state !== 'queued';
      };
    },
  },
];

/** Real time in which a loop ends the round that did the work of the case before. */
const ROUND_MS = 300;

test.each(WORK)('$name within $withinMs ms after another process wrote it', async ({ name, withinMs, write }) => {
  // a loop that still works on the case before would begin its wait after the advance
  await eventually('all is sealed', isAllSealed);
  await sleep(ROUND_MS);
  const isDone = await write();
  expect(await isDone()).toBe(false);
  await served.timers.advance(withinMs);
  await eventually(name, isDone);
});
