import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { WORK } from '../../../jobs/main.ts';
import { retryAbandonedTicks, runTick, type TickOutcome, type Work } from '../../../jobs/run-tick.ts';
import type { Context } from '../../../src/context.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { listRecorded } from '../../../src/tlog/recorded.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { eventually } from '../../support/eventually.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { readRow } from '../../support/read-rows.ts';

const DUE = new Date('2026-03-01T06:00:00Z');
const environment = closeAfterAll(await openEnvironment());
let first: Context;
let second: Context;

beforeAll(async () => {
  first = environment.context;
  second = await environment.replica();
  environment.timers.freeze();
});

/** A job of two steps: it begins, waits for `release`, and does its second step unless its signal aborted. */
function createJob(name: string, steps: string[]) {
  const held = Promise.withResolvers<void>();
  let ofTick: AbortSignal | undefined;
  const work: Work = async ({ signal }) => {
    ofTick = signal;
    steps.push(`${name} begins`);
    await held.promise;
    signal.throwIfAborted();
    steps.push(`${name} ends`);
  };
  return { work, release: held.resolve, isAborted: () => ofTick?.aborted === true };
}

async function expireLease(job: string): Promise<void> {
  const past = new Date(first.clock.now().getTime() - 5_000);
  await first.db.updateTable('job_ticks').set({ lease_until: past }).where('job', '=', job).execute();
}

const tickOf = (job: string) => readRow(first.db, 'job_ticks', ['holder', 'tries', 'finished_at', 'error'], { job });

test('a process whose tick another replica took stops before its next step and writes nothing more', async () => {
  const steps: string[] = [];
  const [a, b] = [createJob('first', steps), createJob('second', steps)];
  const lost = runTick(first, { job: 'stalled', dueAt: DUE }, a.work);
  await eventually(async () => steps.length === 1);
  await expireLease('stalled');
  const retried = retryAbandonedTicks(second, () => b.work);
  await eventually(async () => steps.length === 2);
  const taken = { holder: second.holder, tries: 2, finished_at: null, error: null };
  expect(await tickOf('stalled')).toEqual(taken);

  // the next renewal finds the tick taken
  await environment.timers.advance(10_000);
  await eventually(async () => a.isAborted());
  a.release();
  expect(await lost).toBe('lost');
  expect(await tickOf('stalled')).toEqual(taken);
  b.release();
  await retried;
  expect(steps).toEqual(['first begins', 'second begins', 'second ends']);
  expect(await tickOf('stalled')).toEqual({ ...taken, finished_at: expect.any(Date) });
});

test('a process that takes its own lost tick up again ends it once', async () => {
  const steps: string[] = [];
  const [a, b] = [createJob('stalled', steps), createJob('again', steps)];
  const lost = runTick(first, { job: 'own', dueAt: DUE }, a.work);
  await eventually(async () => steps.length === 1);
  await expireLease('own');
  const retried = retryAbandonedTicks(first, () => b.work);
  await eventually(async () => steps.length === 2);
  a.release();
  expect(await lost).toBe('lost');
  expect(await tickOf('own')).toMatchObject({ tries: 2, finished_at: null });
  b.release();
  await retried;
  expect(await tickOf('own')).toMatchObject({ tries: 2, finished_at: expect.any(Date) });
});

test('a process that cannot renew its lease until its end stops, and another one runs the tick', async () => {
  const steps: string[] = [];
  const a = createJob('cut off', steps);
  let ended: TickOutcome | undefined;
  const cut = runTick(first, { job: 'cut', dueAt: DUE }, a.work).then((outcome) => {
    ended = outcome;
  });
  await eventually(async () => steps.length === 1);
  await sql`RENAME TABLE job_ticks TO job_ticks_elsewhere`.execute(first.db);
  for (let renewal = 0; renewal < 5; renewal++) await environment.timers.advance(10_000);
  a.release();
  await cut;
  await sql`RENAME TABLE job_ticks_elsewhere TO job_ticks`.execute(first.db);
  expect(ended).toBe('lost');
  expect(await tickOf('cut')).toMatchObject({ holder: first.holder, tries: 1, finished_at: null });
  await retryAbandonedTicks(second, () => async () => void steps.push('run by the second'));
  expect(steps).toEqual(['cut off begins', 'run by the second']);
  expect(await tickOf('cut')).toMatchObject({ holder: second.holder, tries: 2, finished_at: expect.any(Date) });
});

test('a process that stops releases its tick, which another one runs at once, without using up a try', async () => {
  const stop = new AbortController();
  const steps: string[] = [];
  const a = createJob('stopping', steps);
  const stopped = runTick({ ...first, signal: stop.signal }, { job: 'stops', dueAt: DUE }, a.work);
  await eventually(async () => steps.length === 1);
  stop.abort();
  a.release();
  expect(await stopped).toBe('released');
  await environment.timers.advance(1_000);
  await retryAbandonedTicks(second, () => async () => void steps.push('continued'));
  expect(steps).toEqual(['stopping begins', 'continued']);
  expect(await tickOf('stops')).toMatchObject({ tries: 1, finished_at: expect.any(Date), error: null });
});

test.each([
  ...(['reconcile_recent', 'reconcile_week', 'reconcile_month', 'reconcile_counts', 'reconcile_quarter'] as const),
  ...(['daily_report', 'manifest', 'retention'] as const),
])('%s writes nothing once its signal is aborted', async (name) => {
  await sealNow(first);
  const old = { job: name, due_at: new Date('2026-01-01T00:00:00Z'), holder: 'x', lease_until: new Date(0) };
  await first.db.insertInto('job_ticks').values(old).execute();
  const written = async () => {
    const { rows } = await sql`SELECT (SELECT COUNT(*) FROM runs) runs, (SELECT COUNT(*) FROM reports) reports,
      (SELECT COUNT(*) FROM job_ticks) ticks`.execute(first.db);
    return [rows, await listRecorded(first.config)];
  };
  const before = await written();
  await expect(WORK[name]({ ...first, signal: AbortSignal.abort() })).rejects.toThrow('aborted');
  expect(await written()).toEqual(before);
});
