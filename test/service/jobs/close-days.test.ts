import { expect, test } from 'vitest';
import { WORK } from '../../../jobs/main.ts';
import { addDays, type Day } from '../../../src/domain/calendar.ts';
import { makeDueReports } from '../../../src/reports/revisions/make-due-reports.ts';
import type { JobName } from '../../../src/timetable/list-jobs.ts';
import { dayAgo, makeDay } from '../../support/make-provider-rows.ts';
import {
  openReconciliationEnvironment,
  type ReconciliationEnvironment,
} from '../../support/open-reconciliation-environment.ts';
import { numRuns } from '../../support/property.ts';
import { readRows } from '../../support/read-rows.ts';

const HOUR_MS = 3_600_000;
/** The jobs of a night in the middle of the week; the quarter's runs on Sundays. */
const NIGHT: JobName[] = [
  'reconcile_recent',
  'reconcile_week',
  'reconcile_month',
  'reconcile_counts',
  'reconcile_open',
];

/** Runs these jobs, and the runs that they queue. */
async function tick(environment: ReconciliationEnvironment, names: JobName[]): Promise<void> {
  for (const name of names) {
    await WORK[name](environment.context);
    const queued = await environment.context.db.selectFrom('runs').select('id').where('state', '=', 'queued').execute();
    for (const { id } of queued) expect((await environment.work(id)).state, name).toBe('complete');
  }
}

const today = ({ context }: ReconciliationEnvironment): Day => context.calendar.dayOf(context.clock.now());

/** Moves the clock to four o'clock of the next night at the provider. */
async function advanceToNight({ context, timers }: ReconciliationEnvironment, nights = 1): Promise<void> {
  const night =
    context.calendar.startOfDay(addDays(context.calendar.dayOf(context.clock.now()), nights)).getTime() + 4 * HOUR_MS;
  await timers.advance(night - context.clock.now().getTime());
}

/** The newest state of each report. */
async function states({ context }: ReconciliationEnvironment): Promise<Record<Day, string>> {
  const rows = await context.db.selectFrom('reports').select(['day', 'state']).orderBy('revision').execute();
  return Object.fromEntries(rows.map((row) => [row.day, row.state]));
}

async function openQuietAccount(): Promise<ReconciliationEnvironment> {
  const environment = await openReconciliationEnvironment({ WEBHOOKS_SINCE: '2020-01-01T00:00:00Z' });
  for (const back of [100, 96, 95, 60, 3, 2, 1]) environment.provider.add(...makeDay(dayAgo(back), 2));
  return environment;
}

test('the timetable alone closes each yesterday of an account without open transactions', {
  timeout: 120_000,
}, async () => {
  await using environment = await openQuietAccount();
  const nights = numRuns(1, 3);
  for (let night = 0; night < nights; night++) {
    await advanceToNight(environment);
    await tick(environment, NIGHT);
    await makeDueReports(environment.context);
    expect((await states(environment))[addDays(today(environment), -1)], `night ${night}`).toBe('closed');
  }
  // every report is closed: nothing before the long reach is read
  const runs = await readRows(environment.context.db, 'runs', ['trigger', 'from_day'], {}, ['from_day']);
  expect(runs[0]).toEqual({ trigger: 'reconcile_counts', from_day: addDays(today(environment), -96 - (nights - 1)) });
  expect(runs.map((run) => run.trigger)).not.toContain('reconcile_unclosed');
});

test('the weekly reading alone closes yesterday too', { timeout: 120_000 }, async () => {
  await using environment = await openQuietAccount();
  await advanceToNight(environment);
  await tick(environment, ['reconcile_quarter']);
  await makeDueReports(environment.context);
  expect(await states(environment)).toEqual({ [addDays(today(environment), -1)]: 'closed' });
});

test('days of a missed night close once the timetable runs again', { timeout: 120_000 }, async () => {
  await using environment = await openQuietAccount();
  await advanceToNight(environment);
  await tick(environment, NIGHT);
  await makeDueReports(environment.context);
  const first = addDays(today(environment), -1);
  await advanceToNight(environment, 3);
  await tick(environment, NIGHT);
  await makeDueReports(environment.context);
  const missed = [1, 2].map((days) => addDays(first, days));
  expect(missed.map((day) => [day, 'provisional'])).toEqual(
    Object.entries(await states(environment)).filter(([, state]) => state !== 'closed'),
  );
  await advanceToNight(environment);
  await tick(environment, NIGHT);
  await makeDueReports(environment.context);
  expect(new Set(Object.values(await states(environment)))).toEqual(new Set(['closed']));
  expect(Object.keys(await states(environment))).toHaveLength(5);
});
