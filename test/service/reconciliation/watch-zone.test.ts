import { expect, test } from 'vitest';
import { isZoneAlertFiring } from '../../../src/alerts/zone-alert.ts';
import { addDays, createCalendar } from '../../../src/domain/calendar.ts';
import { watchZone } from '../../../src/reconciliation/watches/watch-zone.ts';
import { classifyDay } from '../../../src/reports/revisions/classify-day.ts';
import { dayAgo, makeDay, type ProviderRow } from '../../support/make-provider-rows.ts';
import {
  openReconciliationEnvironment,
  type ReconciliationEnvironment,
} from '../../support/open-reconciliation-environment.ts';
import { readRows } from '../../support/read-rows.ts';

const [D5, D4, D3] = [dayAgo(5), dayAgo(4), dayAgo(3)];
const alertsOf = async (environment: ReconciliationEnvironment) =>
  await readRows(environment.context.db, 'alerts', ['name', 'severity', 'summary', 'ended_at'], {}, ['seq']);

/** Rows of a day, paid by the clock of a zone, with the end-to-end ids of their instants; a few of them malformed. */
function paidIn(zone: string, day: string, count: number): ProviderRow[] {
  const calendar = createCalendar(zone);
  return makeDay(day, count).map((row, index) => {
    const paidAt = calendar.toInstant(row.events[0]?.date_created ?? '');
    const minute = paidAt.toISOString().replaceAll(/[-T:]/g, '').slice(0, 12);
    return { ...row, e2e_id: index % 9 === 0 ? 'E123' : `E12345678${minute}abcdefghijk` };
  });
}

test('a wrong time zone raises one alert that names a fitting one, and keeps days from being closed', async () => {
  await using environment = await openReconciliationEnvironment();
  environment.provider.add(...paidIn('America/Manaus', D5, 150), ...paidIn('America/Manaus', D4, 150));
  await environment.reconcile(addDays(D4, -96), dayAgo(0));
  const classify = () =>
    classifyDay(environment.context.db, D4, environment.context.clock.now(), environment.context.calendar);
  expect(await classify()).toMatchObject({ state: 'closed' });
  await watchZone(environment.context);
  await watchZone(environment.context);
  const [alert, ...more] = await alertsOf(environment);
  expect(alert).toMatchObject({ name: 'time_zone_differs', severity: 'critical', ended_at: null });
  expect(alert?.summary).toMatch(/America\/Sao_Paulo is (59|60) minutes off .*: America\/Manaus$/);
  expect(more).toEqual([]);
  expect(await classify()).toMatchObject({ state: 'provisional', reading: expect.anything() });
  // the newest 200 fit again
  environment.provider.add(...paidIn('America/Sao_Paulo', D3, 300));
  await environment.reconcile(D3, D3);
  await watchZone(environment.context);
  expect(await isZoneAlertFiring(environment.context.db)).toBe(false);
  expect(await classify()).toMatchObject({ state: 'closed' });
});

test('the right zone raises nothing', async () => {
  await using environment = await openReconciliationEnvironment();
  environment.provider.add(...paidIn('America/Sao_Paulo', D5, 150));
  await environment.reconcile(D5, D5);
  await watchZone(environment.context);
  expect(await alertsOf(environment)).toEqual([]);
});
