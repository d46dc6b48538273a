import { beforeAll, expect, test } from 'vitest';
import { findDueTime, startJobScheduler } from '../../../jobs/main.ts';
import { reconcileDays } from '../../../jobs/reconcile-days.ts';
import { retryAbandonedTicks, runTick } from '../../../jobs/run-tick.ts';
import type { Context } from '../../../src/context.ts';
import { listJobs } from '../../../src/timetable/list-jobs.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { eventually } from '../../support/eventually.ts';
import { openReconciliationEnvironment } from '../../support/open-reconciliation-environment.ts';
import { readRows } from '../../support/read-rows.ts';

const DUE = new Date('2026-03-01T06:00:00Z');
const environment = closeAfterAll(await openReconciliationEnvironment());
let replicas: [Context, Context];

beforeAll(async () => {
  replicas = [await environment.replica(), await environment.replica()];
});

async function tickOf(job: string) {
  return await readRows(environment.context.db, 'job_ticks', ['holder', 'tries', 'finished_at', 'error'], { job }, [
    'due_at',
  ]);
}

/** Inserts a tick whose process died. */
async function dieIn(job: string, dueAt: Date): Promise<void> {
  const past = new Date(environment.context.clock.now().getTime() - 1000);
  await environment.context.db
    .insertInto('job_ticks')
    .values({ job, due_at: dueAt, holder: 'dead', lease_until: past })
    .execute();
}

test('a tick that two replicas see runs once', async () => {
  for (let minute = 0; minute < 200; minute++) {
    const tick = { job: 'once', dueAt: new Date(DUE.getTime() + minute * 60_000) };
    let runs = 0;
    await Promise.all(
      replicas.map((context) =>
        runTick(context, tick, async () => {
          runs++;
        }),
      ),
    );
    expect(runs).toBe(1);
  }
  expect(await tickOf('once')).toHaveLength(200);
});

test('a job whose last tick still runs is not started again', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const ran: string[] = [];
  const first = runTick(replicas[0], { job: 'slow', dueAt: DUE }, async () => {
    ran.push('first');
    await held;
  });
  await eventually(async () => ran.length === 1);
  await runTick(replicas[1], { job: 'slow', dueAt: new Date(DUE.getTime() + 60_000) }, async () => {
    ran.push('beside');
  });
  release();
  await first;
  await runTick(replicas[1], { job: 'slow', dueAt: new Date(DUE.getTime() + 120_000) }, async () => {
    ran.push('after');
  });
  expect(ran).toEqual(['first', 'after']);
});

test('a tick whose process died is finished by one of the others', async () => {
  await dieIn('dies', DUE);
  let runs = 0;
  const workOf = (job: string) =>
    job === 'dies'
      ? async () => {
          runs++;
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      : undefined;
  await Promise.all(replicas.map((context) => retryAbandonedTicks(context, workOf)));
  expect(runs).toBe(1);
  expect(await tickOf('dies')).toMatchObject([{ tries: 2, finished_at: expect.any(Date), error: null }]);
  await retryAbandonedTicks(replicas[0], workOf);
  expect(runs).toBe(1);
});

test('an abandoned tick does not run while a later one of its job runs', async () => {
  await dieIn('later', DUE);
  const ran: string[] = [];
  await runTick(replicas[0], { job: 'later', dueAt: new Date(DUE.getTime() + 60_000) }, async () => {
    ran.push('new');
    await retryAbandonedTicks(replicas[1], (job) => (job === 'later' ? async () => void ran.push('old') : undefined));
  });
  expect(ran).toEqual(['new']);
  await retryAbandonedTicks(replicas[1], (job) => (job === 'later' ? async () => void ran.push('old') : undefined));
  expect(ran).toEqual(['new', 'old']);
});

test('a tick that kills its process has failed after three tries, and its next tick runs', async () => {
  await dieIn('poison', DUE);
  await environment.context.db.updateTable('job_ticks').set({ tries: 3 }).where('job', '=', 'poison').execute();
  await retryAbandonedTicks(replicas[0], () => () => Promise.reject(new Error('must not run')));
  const error = expect.stringContaining('3 processes died or lost their lease');
  expect(await tickOf('poison')).toMatchObject([{ tries: 3, finished_at: expect.any(Date), error }]);
  const next = { job: 'poison', dueAt: new Date(DUE.getTime() + 60_000) };
  expect(await runTick(replicas[0], next, async () => undefined)).toBe('done');
});

test('a failed job is recorded with the place of the error and without its message, and its next tick runs', async () => {
  await runTick(replicas[0], { job: 'fails', dueAt: DUE }, () => Promise.reject(new Error('of Maria, 52998224725')));
  let ran = false;
  await runTick(replicas[0], { job: 'fails', dueAt: new Date(DUE.getTime() + 60_000) }, async () => {
    ran = true;
  });
  expect(ran).toBe(true);
  const [failed] = await tickOf('fails');
  expect(failed?.finished_at).not.toBeNull();
  expect(failed?.error).toContain('ticks.test.ts');
  expect(failed?.error).not.toContain('52998224725');
});

test('replicas whose clocks differ give a tick the same time', () => {
  for (const skewMs of [-90_000, -60_000, -20_000, -50, 0, 50, 20_000, 60_000, 90_000])
    expect(findDueTime(new Date(DUE.getTime() + skewMs), '0 6 * * *', 'UTC')).toEqual(DUE);
  for (const skewMs of [-20_000, -50, 0, 50, 20_000])
    expect(findDueTime(new Date(DUE.getTime() + skewMs), '* * * * *', 'UTC')).toEqual(DUE);
  for (const skewMs of [-400, 0, 400])
    expect(findDueTime(new Date(DUE.getTime() + skewMs), '* * * * * *', 'UTC')).toEqual(DUE);
});

test('a job does not begin before it is due by the clock of the database, though the machine is ahead; the watch does', async () => {
  const replica = await environment.replica({
    ...Object.fromEntries(listJobs(environment.context.config).map(({ name }) => [`JOB_${name.toUpperCase()}`, 'off'])),
    ...{ JOB_RETENTION: '*/10 * * * * *', JOB_WATCH: '*/10 * * * * *' },
  });
  await environment.context.db.deleteFrom('job_ticks').execute();
  const startedAt = replica.clock.now();
  // the timetable's own clock begins its ticks 4 s early
  const context = {
    ...replica,
    clock: { ...replica.clock, now: () => new Date(replica.clock.now().getTime() - 4_000) },
  };
  {
    await using _ = startJobScheduler(context);
    await eventually(async () => (await tickOf('watch')).length > 0);
  }
  const ticks = await environment.context.db
    .selectFrom('job_ticks')
    .select('job')
    .where('due_at', '>', startedAt)
    .execute();
  expect([...new Set(ticks.map(({ job }) => job))]).toEqual(['watch']);
});

test('the timetable ticks on two replicas, each tick once; a job that is off does not tick', async () => {
  const jobs = {
    JOB_WATCH: '* * * * * *',
    JOB_RECONCILE_RECENT: 'off',
    JOB_RECONCILE_WEEK: 'off',
    JOB_RECONCILE_MONTH: 'off',
    JOB_RECONCILE_QUARTER: 'off',
    JOB_DAILY_REPORT: 'off',
    JOB_DAY_MANIFESTS: 'off',
    JOB_CHECK_BOOKS: 'off',
    JOB_CHECK_ALL_BOOKS: 'off',
    JOB_MANIFEST: 'off',
    JOB_RETENTION: 'off',
  };
  await environment.context.db.deleteFrom('job_ticks').execute();
  const contexts = [await environment.replica(jobs), await environment.replica(jobs)];
  {
    await using stack = new AsyncDisposableStack();
    for (const context of contexts) stack.use(startJobScheduler(context));
    await eventually(async () => (await tickOf('watch')).length >= 2);
  }
  const ticks = await readRows(environment.context.db, 'job_ticks', ['job', 'due_at', 'tries', 'finished_at']);
  expect(new Set(ticks.map((tick) => tick.job))).toEqual(new Set(['watch']));
  expect(ticks.every((tick) => tick.tries === 1 && tick.finished_at !== null)).toBe(true);
  // a stopped timetable runs no ticks while another one does
  await using _ = startJobScheduler(
    await environment.replica({ ...jobs, JOB_WATCH: 'off', JOB_RETENTION: '* * * * * *' }),
  );
  await eventually(async () => (await tickOf('retention')).length >= 2);
  expect(await tickOf('watch')).toHaveLength(ticks.length);
});

test('a scheduled run is not queued while the one before is active', async () => {
  await reconcileDays(environment.context, 'reconcile_week', 7);
  await reconcileDays(environment.context, 'reconcile_week', 7);
  await reconcileDays(environment.context, 'reconcile_month', 35);
  const runs = await environment.context.db.selectFrom('runs').select(['trigger', 'state']).orderBy('seq').execute();
  expect(runs).toEqual([
    { trigger: 'reconcile_week', state: 'queued' },
    { trigger: 'reconcile_month', state: 'queued' },
  ]);
});
