import { expect, test } from 'vitest';
import { listReconciliations } from '../../../jobs/main.ts';
import { addDays, type Day } from '../../../src/domain/calendar.ts';
import { makeDueReports } from '../../../src/reports/revisions/make-due-reports.ts';
import { dayAgo, makeDay } from '../../support/make-provider-rows.ts';
import {
  openReconciliationEnvironment,
  type ReconciliationEnvironment,
} from '../../support/open-reconciliation-environment.ts';
import { numRuns } from '../../support/property.ts';

const HOUR_MS = 3_600_000;
/** The names of jobs that tick on a night in the middle of the week; the quarter's is for Sundays. */
const NIGHT = ['reconcile_recent', 'reconcile_week', 'reconcile_month', 'reconcile_counts', 'reconcile_open'];

/** Lets these jobs tick, with the windows that they choose themselves, and works the runs that they queue. */
async function tick(world: ReconciliationEnvironment, names: string[]): Promise<void> {
  for (const job of listReconciliations(world.context.config).filter(({ name }) => names.includes(name))) {
    await job.work(world.context);
    const queued = await world.context.db.selectFrom('runs').select('id').where('state', '=', 'queued').execute();
    for (const { id } of queued) expect((await world.work(id)).state, job.name).toBe('complete');
  }
}

const today = ({ context }: ReconciliationEnvironment): Day => context.calendar.dayOf(context.clock.now());

/** To the next night, at four o'clock at the provider. */
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
  const world = await openReconciliationEnvironment({ WEBHOOKS_SINCE: '2020-01-01T00:00:00Z' });
  for (const back of [100, 96, 95, 60, 3, 2, 1]) world.provider.add(...makeDay(dayAgo(back), 2));
  return world;
}

test('the timetable alone closes each yesterday of an account without open transactions', {
  timeout: 120_000,
}, async () => {
  await using world = await openQuietAccount();
  const nights = numRuns(2, 3);
  for (let night = 0; night < nights; night++) {
    await advanceToNight(world);
    await tick(world, NIGHT);
    await makeDueReports(world.context);
    expect((await states(world))[addDays(today(world), -1)], `night ${night}`).toBe('closed');
  }
  // no report waits: nothing before the long reach is read
  const runs = await world.context.db.selectFrom('runs').select(['trigger', 'from_day']).orderBy('from_day').execute();
  expect(runs[0]).toEqual({ trigger: 'reconcile_counts', from_day: addDays(today(world), -96 - (nights - 1)) });
  expect(runs.map((run) => run.trigger)).not.toContain('reconcile_unclosed');
});

test('the weekly reading alone closes yesterday too', { timeout: 120_000 }, async () => {
  await using world = await openQuietAccount();
  await advanceToNight(world);
  await tick(world, ['reconcile_quarter']);
  await makeDueReports(world.context);
  expect(await states(world)).toEqual({ [addDays(today(world), -1)]: 'closed' });
});

test('days whose night was missed close too, once the timetable runs again', { timeout: 120_000 }, async () => {
  await using world = await openQuietAccount();
  await advanceToNight(world);
  await tick(world, NIGHT);
  await makeDueReports(world.context);
  const first = addDays(today(world), -1);
  await advanceToNight(world, 3);
  await tick(world, NIGHT);
  await makeDueReports(world.context);
  const missed = [1, 2].map((days) => addDays(first, days));
  expect(missed.map((day) => [day, 'provisional'])).toEqual(
    Object.entries(await states(world)).filter(([, state]) => state !== 'closed'),
  );
  await advanceToNight(world);
  await tick(world, NIGHT);
  await makeDueReports(world.context);
  expect(new Set(Object.values(await states(world)))).toEqual(new Set(['closed']));
  expect(Object.keys(await states(world))).toHaveLength(5);
});
