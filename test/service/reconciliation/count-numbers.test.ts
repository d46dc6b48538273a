import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { addDays, type Day } from '../../../src/domain/calendar.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import {
  countWebhookDays,
  readCountedDays,
  readWebhookDays,
} from '../../../src/reconciliation/numbers/count-webhook-days.ts';
import { readCoverage } from '../../../src/reconciliation/numbers/read-coverage.ts';
import {
  readAnnouncementMetrics,
  readCoverageMetrics,
} from '../../../src/reconciliation/numbers/read-proof-metrics.ts';
import { lossRate } from '../../../src/reconciliation/numbers/read-webhook-days.ts';
import { observe, type ShownTransaction } from '../../support/make-observations.ts';
import { dayAgo, makeDay, makeRow } from '../../support/make-provider-rows.ts';
import {
  openReconciliationEnvironment,
  type ReconciliationEnvironment,
} from '../../support/open-reconciliation-environment.ts';

const [D4, D3, D2, D1] = [4, 3, 2, 1].map(dayAgo) as [Day, Day, Day, Day];
const SINCE = { WEBHOOKS_SINCE: new Date(Date.now() - 30 * 86_400_000).toISOString() };

/** Payments of one noon that webhooks announced, each late by a number of seconds. */
async function announce(environment: ReconciliationEnvironment, day: Day, ...late: number[]): Promise<void> {
  const { context } = environment;
  for (const seconds of late) {
    const row = makeRow({ created: `${day} 12:00:00`, history: ['paid'] });
    const paidAt = context.calendar.toInstant(`${day} 12:01:00`);
    const { insertId } = await context.db
      .insertInto('webhooks')
      .values({
        hash: createHash('sha256').update(row.id).digest(),
        body: Buffer.from('{}'),
        received_at: new Date(paidAt.getTime() + seconds * 1000),
        source_address: '127.0.0.1',
        headers: '{}',
        state: 'applied',
      })
      .executeTakeFirstOrThrow();
    const source = { kind: 'webhook' as const, webhook: { seq: Number(insertId), id: 'wh' } };
    // a row as the provider prints it, which is what observe reads
    await applyObservations(context, [observe(row as unknown as ShownTransaction, context.clock.now(), source)]);
  }
}

test('webhooks are counted by the day of the change: announced ones, how late, and lost ones', async () => {
  await using environment = await openReconciliationEnvironment(SINCE);
  await announce(environment, D3, 1, 2, 3, 100);
  await announce(environment, D2, 7);
  environment.provider.add(makeRow({ created: `${D3} 10:00:00`, history: ['paid'] }));
  await environment.reconcile(D3, D3);
  const [d4, d3, d2] = await readWebhookDays(environment.context, { from: D4, to: D2 });
  expect(d3).toEqual({ day: D3, announced: 4, lost: 1, waiting: 0, lateS: { p50: 2, p95: 100, max: 100 } });
  expect(d2).toMatchObject({ announced: 1, lost: 0, lateS: { p50: 7, p95: 7, max: 7 } });
  expect(d4).toEqual({ day: D4, announced: 0, lost: 0, waiting: 0, lateS: null });
  expect([d4, d3, d2].map((day) => day && lossRate(day))).toEqual([null, '0.2000', '0.0000']);
});

test('the watch counts each day once for the charts, the current one every five minutes', async () => {
  await using environment = await openReconciliationEnvironment(SINCE);
  const { context, timers } = environment;
  await announce(environment, D3, 1, 2, 3, 100);
  environment.provider.add(makeRow({ created: `${D3} 10:00:00`, history: ['paid'] }));
  await environment.reconcile(D3, D3);
  const read = () => readCountedDays(context.db, { from: D4, to: dayAgo(0) });
  expect(await read()).toEqual([]);
  // the days since webhooks are expected
  expect(await countWebhookDays(context)).toBe(31);
  const days = await read();
  expect(days).toMatchObject(await readWebhookDays(context, { from: D4, to: dayAgo(0) }));
  expect(days.find(({ day }) => day === D3)).toMatchObject({ announced: 4, lost: 1, lateS: { p95: 100 } });
  expect(await countWebhookDays(context)).toBe(0);
  await announce(environment, D1, 5);
  await timers.advance(5 * 60_000);
  // yesterday too, if it has hardly ended
  expect(await countWebhookDays(context)).toBeLessThanOrEqual(2);
  const [counted] = (await read()).filter(({ day }) => day === dayAgo(0));
  expect(counted?.countedAt.getTime()).toBeGreaterThan(days.at(-1)?.countedAt.getTime() ?? 0);
  await timers.advance(2 * 86_400_000);
  await countWebhookDays(context);
  expect((await read()).find(({ day }) => day === D1)).toMatchObject({ announced: 1, lateS: { p50: 5 } });
});

test('the API and the metrics have the figures of the charts, and count a day that the watch has not counted', async () => {
  await using environment = await openReconciliationEnvironment(SINCE);
  const { context } = environment;
  await announce(environment, D3, 1, 2);
  await countWebhookDays(context);
  await announce(environment, D3, 9);
  const range = { from: D3, to: D3 };
  expect(await readWebhookDays(context, range)).toEqual(await readCountedDays(context.db, range));
  expect(await readWebhookDays(context, range)).toMatchObject([{ announced: 2 }]);
  await context.db.deleteFrom('webhook_days').where('day', '=', D3).execute();
  expect(await readWebhookDays(context, range)).toMatchObject([{ announced: 3 }]);
});

test('coverage counts days read whole after their end, empty days too, and finds the oldest unproven day', async () => {
  await using environment = await openReconciliationEnvironment(SINCE);
  environment.provider.add(...makeDay(D4, 3), ...makeDay(D2, 3));
  await environment.reconcile(D4, D2);
  expect(await readCoverage(environment.context)).toEqual({
    from: D4,
    to: D1,
    days: 4,
    proven: 3,
    oldestUnproven: D1,
    oldestUnprovenAgeDays: 1,
  });
  // D3 had no transaction, and D1 has none: proven all the same
  expect(await environment.reconcile(D1, D1)).toMatchObject({ state: 'complete', total: 0, mismatches: 0 });
  expect(await readCoverage(environment.context)).toMatchObject({
    proven: 4,
    oldestUnproven: null,
    oldestUnprovenAgeDays: 0,
  });
  environment.provider.switches.total = (count) => count + 3;
  await environment.reconcile(addDays(D4, -1), addDays(D4, -1));
  expect(await readCoverage(environment.context)).toMatchObject({
    days: 5,
    proven: 4,
    oldestUnproven: addDays(D4, -1),
    oldestUnprovenAgeDays: 5,
  });
});

test('the numbers are metrics', async () => {
  await using environment = await openReconciliationEnvironment(SINCE);
  await announce(environment, D1, 4);
  const [unproven, age] = await readCoverageMetrics(environment.context);
  expect(unproven?.values).toBe(1);
  const { calendar, clock } = environment.context;
  const sinceMidnightS = (clock.now().getTime() - calendar.startOfDay(dayAgo(0)).getTime()) / 1000;
  expect(age?.values).toBeGreaterThan(sinceMidnightS - 60);
  expect(age?.values).toBeLessThanOrEqual(sinceMidnightS);
  const [ratio, lateness] = await readAnnouncementMetrics(environment.context);
  expect(ratio?.values).toContainEqual({ labels: { day: 'yesterday' }, value: 0 });
  expect(lateness?.values).toContainEqual({ labels: { day: 'yesterday', percentile: '95' }, value: 4 });
});
