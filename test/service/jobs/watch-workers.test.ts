import { expect, test } from 'vitest';
import { advance, advanceAlive } from '../../support/advance-alive.ts';
import { eventually } from '../../support/eventually.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { type HttpSink, openHttpSink } from '../../support/open-http-sink.ts';
import { readRows } from '../../support/read-rows.ts';
import { API_KEY, NO_RUNS } from '../../support/start-serve.ts';
import { startSide } from '../../support/start-side.ts';

type Event = {
  event_action: string;
  dedup_key: string;
  payload?: { severity: string; class: string; summary: string };
};

/** Two minutes and a half in steps: a longer gap between two checks starts the check anew. */
const STEPS = Array.from({ length: 17 }, () => 10_000);

async function open(sink: HttpSink, env: Record<string, string> = {}): Promise<TestEnvironment> {
  return await openEnvironment({
    ...NO_RUNS,
    ...{ PROVIDER_URL: 'http://127.0.0.1:9', PROVIDER_API_KEY: API_KEY },
    ...{ PAGERDUTY_ROUTING_KEY: `${sink.url.replace('://', '://R0UT1NGK3Y@')}/pd` },
    ...env,
  });
}

const readAlerts = ({ context }: TestEnvironment) =>
  readRows(context.db, 'alerts', ['name', 'scope', 'severity', 'summary', 'ended_at'], { name: 'worker_dead' }, [
    'seq',
  ]);

test('without a worker, one of the web processes raises worker_dead and sends it, once; it ends with the next worker', async () => {
  await using sink = await openHttpSink();
  await using environment = await open(sink);
  await startSide(environment, 'web');
  await startSide(environment, 'web');
  await advance(environment, STEPS.slice(0, 12));
  expect(await readAlerts(environment), 'not before workers had time to start').toEqual([]);
  await eventually('the page', async () => {
    await advance(environment, [10_000]);
    return sink.posted.length > 0;
  });
  expect(await readAlerts(environment)).toMatchObject([
    { severity: 'critical', scope: 'worker', summary: expect.stringContaining('inbox never'), ended_at: null },
  ]);
  await startSide(environment, 'web');
  await advance(environment, STEPS);
  expect(await readAlerts(environment), 'a web process that has just started ends nothing').toMatchObject([
    { ended_at: null },
  ]);
  expect(sink.posted.map(({ json }) => (json as Event).event_action)).toEqual(['trigger']);

  const worker = await startSide(environment, 'worker');
  await eventually('the end', async () => {
    await advance(environment, [5_000]);
    return sink.posted.length > 1;
  });
  const keys = sink.posted.map(({ json }) => json as Event);
  expect(keys.map((one) => one.event_action)).toEqual(['trigger', 'resolve']);
  expect(keys[1]?.dedup_key).toBe(keys[0]?.dedup_key);

  await worker.stop();
  await eventually('the next page', async () => {
    await advance(environment, [10_000]);
    return sink.posted.length > 2;
  });
  expect(await readAlerts(environment)).toMatchObject([
    { ended_at: expect.any(Date) },
    { ended_at: null, summary: expect.stringMatching(/(inbox|sealer|alerts) since /) },
  ]);
});

test('a worker with nothing to do is alive, also without jobs, and after the machine has slept', async () => {
  await using sink = await openHttpSink();
  await using environment = await open(sink);
  await startSide(environment, 'web');
  await startSide(environment, 'worker', { JOBS: 'off' });
  await advanceAlive(environment, [...STEPS, ...STEPS, 600_000, ...STEPS]);
  expect(await readAlerts(environment)).toEqual([]);
});

test('a watch that ticks no more is a dead part of a worker', async () => {
  await using sink = await openHttpSink();
  await using environment = await open(sink);
  const { db, clock } = environment.context;
  const at = new Date(clock.now().getTime() - 60_000);
  await db
    .insertInto('job_ticks')
    .values({ job: 'watch', due_at: at, holder: 'gone', lease_until: at, finished_at: at })
    .execute();
  await startSide(environment, 'web');
  await startSide(environment, 'worker', { JOBS: 'off' });
  await eventually('the page', async () => {
    await advanceAlive(environment, [10_000]);
    return sink.posted.length > 0;
  });
  const [alert, ...others] = await readAlerts(environment);
  expect(others).toEqual([]);
  expect(alert?.summary).toContain(`(watch since ${at.toISOString()})`);
});

test('a watch that hangs is a dead part of a worker, though its process renews the lease', async () => {
  await using sink = await openHttpSink();
  await using environment = await open(sink);
  const { db, clock } = environment.context;
  const ago = (minutes: number) => new Date(clock.now().getTime() - minutes * 60_000);
  const tick = { job: 'watch', holder: 'hangs', lease_until: ago(-60) };
  await db
    .insertInto('job_ticks')
    .values({ ...tick, due_at: ago(14), started_at: ago(14) })
    .execute();
  await startSide(environment, 'web');
  await startSide(environment, 'worker', { JOBS: 'off' });
  await advanceAlive(environment, [10_000, 10_000]);
  expect(await readAlerts(environment), 'a long watch').toEqual([]);
  await advanceAlive(environment, STEPS);
  expect(await readAlerts(environment)).toMatchObject([
    { ended_at: null, summary: expect.stringMatching(/\(watch since [^,]*\)/) },
  ]);
});
