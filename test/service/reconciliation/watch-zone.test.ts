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

const [D5, D4, D3] = [dayAgo(5), dayAgo(4), dayAgo(3)];
const alertsOf = async (world: ReconciliationEnvironment) =>
  await world.context.db
    .selectFrom('alerts')
    .select(['name', 'severity', 'summary', 'ended_at'])
    .orderBy('seq')
    .execute();

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
  await using world = await openReconciliationEnvironment();
  world.provider.add(...paidIn('America/Manaus', D5, 150), ...paidIn('America/Manaus', D4, 150));
  await world.reconcile(addDays(D4, -96), dayAgo(0));
  const classify = () => classifyDay(world.context.db, D4, world.context.clock.now(), world.context.calendar);
  expect(await classify()).toMatchObject({ state: 'closed' });
  await watchZone(world.context);
  await watchZone(world.context);
  const [alert, ...more] = await alertsOf(world);
  expect(alert).toMatchObject({ name: 'time_zone_differs', severity: 'critical', ended_at: null });
  expect(alert?.summary).toMatch(/America\/Sao_Paulo is (59|60) minutes off .*: America\/Manaus$/);
  expect(more).toEqual([]);
  expect(await classify()).toMatchObject({ state: 'provisional', proof: expect.anything() });
  // the newest 200 fit again
  world.provider.add(...paidIn('America/Sao_Paulo', D3, 300));
  await world.reconcile(D3, D3);
  await watchZone(world.context);
  expect(await isZoneAlertFiring(world.context.db)).toBe(false);
  expect(await classify()).toMatchObject({ state: 'closed' });
});

test('the right zone raises nothing', async () => {
  await using world = await openReconciliationEnvironment();
  world.provider.add(...paidIn('America/Sao_Paulo', D5, 150));
  await world.reconcile(D5, D5);
  await watchZone(world.context);
  expect(await alertsOf(world)).toEqual([]);
});
