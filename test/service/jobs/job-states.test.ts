import { afterAll, beforeEach, expect, test } from 'vitest';
import { runTick } from '../../../jobs/run-tick.ts';
import { watch } from '../../../jobs/watch.ts';
import { ConfereError } from '../../../src/domain/errors.ts';
import { failure, message } from '../../../src/texts/messages.ts';
import { alertJobs } from '../../../src/timetable/alert-jobs.ts';
import { JOB_NAMES, type JobName } from '../../../src/timetable/list-jobs.ts';
import { presentJob } from '../../../src/timetable/present-job.ts';
import { readJobMetrics } from '../../../src/timetable/read-job-metrics.ts';
import { readJobStates } from '../../../src/timetable/read-job-states.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { openSurfaces } from '../../support/open-surfaces.ts';
import { readRow } from '../../support/read-rows.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';

const CPF = '529.982.247-25';
const MINUTE_MS = 60_000;

let environment: TestEnvironment;

beforeEach(async () => {
  await environment?.[Symbol.asyncDispose]();
  environment = await openEnvironment({ JOB_RECONCILE_OPEN: 'off' });
});
afterAll(() => environment[Symbol.asyncDispose]());

/** Runs a tick that was due some minutes ago. */
async function tick(job: JobName, minutesAgo: number, error?: Error): Promise<void> {
  const { context } = environment;
  const dueAt = new Date(context.clock.now().getTime() - minutesAgo * MINUTE_MS);
  await runTick(context, { job, dueAt }, async () => {
    if (error) throw error;
  });
}

async function stateOf(name: JobName) {
  const state = (await readJobStates(environment.context)).find((one) => one.name === name);
  if (!state) throw new Error(`no state of ${name}`);
  return state;
}

async function firing(): Promise<string[]> {
  const rows = await environment.context.db
    .selectFrom('alerts')
    .select(['firing_scope', 'severity'])
    .where('firing_scope', 'is not', null)
    .orderBy('seq')
    .execute();
  return rows.map((row) => `${row.firing_scope} ${row.severity}`);
}

const confere = (...args: string[]) => runCommandInProcess(['jobs', ...args], environment.env, environment.timers);

test('a job’s state has its last tick, its last success, the next tick and who runs it', async () => {
  const { context } = environment;
  expect(await stateOf('daily_report')).toMatchObject({ last: null, lastSuccessAt: null, lastFailed: null });
  expect(await stateOf('reconcile_open')).toMatchObject({ cron: 'off', nextAt: null, overdue: false });
  await tick('daily_report', 3);
  await tick('daily_report', 2, new ConfereError('unavailable', `reports failed for ${CPF}`));
  const failed = await stateOf('daily_report');
  expect(failed).toMatchObject({
    last: { outcome: 'failed', tries: 1, holder: null, startedAt: expect.any(Date), finishedAt: expect.any(Date) },
    lastSuccessAt: expect.any(Date),
    lastFailed: true,
    lastDurationMs: expect.any(Number),
    failing: true,
  });
  expect(failed.last?.error).toEqual({ code: 'unavailable', said: '***', text: 'unavailable: ***' });
  const personal = message('doctor.disk', { name: CPF, free: '1 B' });
  await tick('daily_report', 1, failure('unavailable', personal));
  expect(JSON.stringify((await stateOf('daily_report')).last)).not.toContain(CPF);
  await runTick(context, { job: 'daily_report', dueAt: context.clock.now() }, async () => {
    const running = await stateOf('daily_report');
    expect(running).toMatchObject({ last: { outcome: 'running', holder: context.holder }, lastFailed: true });
    expect(running.nextAt?.getTime()).toBeGreaterThan(context.clock.now().getTime());
  });
  expect(await stateOf('daily_report')).toMatchObject({ last: { outcome: 'done', holder: null }, failing: false });
});

test('the state is the same from every replica', async () => {
  await tick('manifest', 4);
  await tick('check_books', 4, new TypeError('x'));
  const replica = await environment.replica();
  expect(await readJobStates(replica)).toEqual(await readJobStates(environment.context));
  const metrics = await readJobMetrics(replica);
  expect(metrics).toEqual(await readJobMetrics(environment.context));
  const ofJob = (job: string) =>
    Object.fromEntries(metrics.map(({ name, values }) => [name, values.find((one) => one.labels.name === job)?.value]));
  expect(metrics.every(({ values }) => values.length === JOB_NAMES.length)).toBe(true);
  expect(ofJob('check_books')).toEqual({
    confere_job_last_success_timestamp_seconds: 0,
    confere_job_last_duration_seconds: expect.any(Number),
    confere_job_overdue: 0,
    confere_job_last_failed: 1,
  });
  const { lastSuccessAt } = await stateOf('manifest');
  expect(ofJob('manifest')).toMatchObject({
    confere_job_last_success_timestamp_seconds: (lastSuccessAt?.getTime() ?? Number.NaN) / 1000,
    confere_job_last_failed: 0,
  });
});

test('a failed report, books check or manifest alerts at once, and the alert ends with a success', async () => {
  for (const job of ['daily_report', 'check_books', 'manifest', 'retention'] as const)
    await tick(job, 3, new Error('x'));
  await alertJobs(environment.context);
  await alertJobs(environment.context);
  const raised = [
    'job_failed daily_report high',
    'job_failed check_books high',
    'job_failed manifest high',
    'job_failed retention medium',
  ];
  expect((await firing()).sort()).toEqual(raised.sort());
  for (const job of ['daily_report', 'check_books', 'manifest', 'retention'] as const) await tick(job, 2);
  await watch(environment.context);
  expect(await firing()).toEqual([]);
});

test('a job of every few minutes alerts after three failures in a row', async () => {
  await tick('reconcile_recent', 3, new Error('x'));
  await tick('reconcile_recent', 2, new Error('x'));
  await watch(environment.context);
  expect(await firing()).toEqual([]);
  await tick('reconcile_recent', 1, new Error('x'));
  await watch(environment.context);
  expect(await firing()).toEqual(['job_failed reconcile_recent medium']);
  await tick('reconcile_recent', 0);
  await watch(environment.context);
  expect(await firing()).toEqual([]);
});

test('a job that does not start, or takes too long, is overdue until a tick of it has ended', async () => {
  const { context } = environment;
  for (const job of JOB_NAMES) await tick(job, 0);
  const day = 24 * 60;
  await context.db.deleteFrom('job_ticks').where('job', 'in', ['check_books', 'retention']).execute();
  await tick('check_books', 2 * day);
  const startedAt = new Date(context.clock.now().getTime() - 5 * 60 * MINUTE_MS);
  const held = { holder: 'hangs', lease_until: new Date(context.clock.now().getTime() + 45_000) };
  await context.db
    .insertInto('job_ticks')
    .values({ job: 'retention', due_at: startedAt, started_at: startedAt, ...held })
    .execute();
  await watch(context);
  expect((await firing()).sort()).toEqual(['job_overdue check_books high', 'job_overdue retention medium']);
  const { summary } = await readRow(context.db, 'alerts', ['summary'], { scope: 'retention' });
  expect(summary).toMatch(/^job_overdue: job retention takes too long or was abandoned/);
  await context.db
    .updateTable('job_ticks')
    .set({ finished_at: context.clock.now() })
    .where('holder', '=', 'hangs')
    .execute();
  await tick('retention', 0);
  await tick('check_books', 0);
  await watch(context);
  expect(await firing()).toEqual([]);
});

test('GET /api/v1/jobs shows a viewer the jobs, with the same states as the command', async () => {
  const { context } = environment;
  await tick('manifest', 1, new TypeError(CPF));
  const { api, confere } = await openSurfaces(environment);
  const { jobs } = (await api('viewer', 'GET', '/jobs')).json;
  expect(jobs).toEqual((await readJobStates(context)).map(presentJob));
  expect((await confere('jobs', '--json')).json).toEqual({ jobs });
  expect(JSON.stringify(jobs)).not.toContain(CPF);
  expect((await api('viewer', 'GET', '/jobs?state=x')).status).toBe(422);
});

test('confere jobs lists each job in the provider’s time, with the error and what is overdue', async () => {
  await tick('manifest', 3 * 24 * 60, new ConfereError('unavailable', 'the disk is full'));
  const { code, out } = await confere();
  expect(code).toBe(0);
  expect(out).toMatch(/^times of America\/Sao_Paulo, UTC-03:00\n/);
  for (const job of JOB_NAMES) expect(out).toMatch(new RegExp(`^${job} `, 'm'));
  expect(out).toMatch(/^manifest +30 0 \* \* \* +failed +next \d{4}-\d\d-\d\d 00:30:00 +OVERDUE$/m);
  expect(out).toMatch(/^ {2}due \d{4}-.*, started \d{4}-.*, finished \d{4}-.* \([\d.]+ s\)$/m);
  expect(out).toContain('unavailable: the disk is full');
  expect(out).toMatch(/^reconcile_open +off +never ran +next -$/m);
});

test('confere jobs run runs a job now, audited, and not beside a tick of it that runs', async () => {
  const { context } = environment;
  const done = await confere('run', 'retention', '--json');
  expect(done.code).toBe(0);
  expect(JSON.parse(done.out)).toMatchObject({
    outcome: 'done',
    job: { name: 'retention', last: { outcome: 'done' } },
  });
  const audited = await context.db.selectFrom('audit').select(['actor', 'action', 'target']).execute();
  expect(audited).toEqual([{ actor: 'command', action: 'jobs.run', target: 'retention' }]);
  await runTick(context, { job: 'manifest', dueAt: context.clock.now() }, async () => {
    expect(await confere('run', 'manifest')).toMatchObject({
      code: 1,
      out: 'manifest: another tick of this job is running; nothing was started\n',
    });
  });
});

test('confere jobs run names the jobs for an unknown name, and the variables of a job that is off', async () => {
  const unknown = await confere('run', 'report');
  expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining('the argument must be one of') });
  expect(unknown.err).toContain('daily_report');
  const off = await confere('run', 'reconcile_open');
  expect(off).toMatchObject({ code: 2, err: expect.stringContaining('JOB_RECONCILE_OPEN') });
});
