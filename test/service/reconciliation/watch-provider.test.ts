import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { createProviderClient, type ProviderClient } from '../../../src/provider/client.ts';
import { ProviderError } from '../../../src/provider/provider-error.ts';
import { raiseRunAlert } from '../../../src/reconciliation/runs/alert-runs.ts';
import { claimRun } from '../../../src/reconciliation/runs/claim-run.ts';
import { executeRun } from '../../../src/reconciliation/runs/process-runs.ts';
import { startRun } from '../../../src/reconciliation/runs/start-run.ts';
import {
  checkProvider,
  readProviderHealth,
  watchProvider,
} from '../../../src/reconciliation/watches/watch-provider.ts';
import { message } from '../../../src/texts/messages.ts';
import { eventually } from '../../support/eventually.ts';
import { dayAgo, makeDay } from '../../support/make-provider-rows.ts';
import {
  openReconciliationEnvironment,
  type ReconciliationEnvironment,
} from '../../support/open-reconciliation-environment.ts';
import { type Fault, PROVIDER_KEY, type SeenRequest } from '../../support/test-provider.ts';

const STEP_MS = 10_000;
const SHOWS_A_STEP = 3;
let environment: ReconciliationEnvironment;
let context: Context;
let ids: string[];
let client: ProviderClient;

/** A client whose requests are dated by the environment's clock, as in `serve`. */
const openOwnClient = (): ProviderClient =>
  createProviderClient({
    ...{ url: environment.provider.url, apiKey: PROVIDER_KEY, signal: context.signal, timers: environment.timers },
    now: () => context.clock.now(),
  });

beforeEach(async () => {
  environment = await openReconciliationEnvironment();
  // each step is ten seconds of the reports, however slow the machine is
  environment.timers.freeze();
  context = environment.context;
  environment.provider.add(...makeDay(dayAgo(0), SHOWS_A_STEP));
  ids = [...environment.provider.rows.keys()];
  client = environment.use(openOwnClient());
});
afterEach(() => environment[Symbol.asyncDispose]());

const readAlerts = () =>
  context.db.selectFrom('alerts').select(['name', 'summary', 'severity', 'ended_at']).orderBy('seq').execute();
const readFiring = async () => (await readAlerts()).filter(({ ended_at }) => ended_at === null);
const setFault = (fault: (seen: SeenRequest) => Fault | undefined): void => {
  environment.provider.switches.fault = fault;
};

const asked: Promise<unknown>[] = [];
let isPaused = false;

/** Ten seconds of a worker: some shows, one round of the watch, and its question for the list where it asks. */
async function step(): Promise<void> {
  // in a pause a request waits
  for (const id of ids) asked.push(client.show(id, { triesMax: 1 }).catch(() => undefined));
  if (!isPaused) await Promise.all(asked.splice(0));
  const { isFiring, isSuspect } = await checkProvider(context, client);
  if (isFiring || isSuspect)
    asked.push(
      client.listPage({ initialDate: dayAgo(0), finalDate: dayAgo(0) }, 1, { triesMax: 1 }).catch(() => undefined),
    );
  if (!isPaused) await Promise.all(asked.splice(0));
  await environment.timers.advance(STEP_MS);
}

/** @returns after how many steps `isDone` holds. */
async function stepsUntil(isDone: () => Promise<boolean>, stepsMax: number): Promise<number> {
  for (let steps = 1; steps <= stepsMax; steps++) {
    await step();
    if (await isDone()) return steps;
  }
  return Number.POSITIVE_INFINITY;
}

/** A run of the client that is watched. */
async function failRun(): Promise<void> {
  const { id } = await startRun(context, { from: dayAgo(3), to: dayAgo(3), trigger: 'test', createdBy: 'test' });
  const run = await claimRun(context, { id });
  if (run) await executeRun(context, client, run);
}

const fires = (name: string) => async () => (await readFiring()).some((alert) => alert.name === name);
const isOver = async () => (await readFiring()).length === 0;

describe('provider_failing', () => {
  test.each<[string, (seen: SeenRequest) => Fault | undefined, RegExp]>([
    ['503 on everything', () => ({ status: 503 }), /\(503\)$/],
    ['no answer', () => ({ cut: 'before' }), /\(no_answer\)$/],
    ['no JSON', () => ({ text: '<html>' }), /\(unreadable\)$/],
    ['401 on shows alone', ({ kind }) => (kind === 'show' ? { status: 401 } : undefined), /show .*\(401\)$/],
    ['429 without an end', () => ({ status: 429 }), /\(429\)$/],
    ['503 with a pause of three minutes', () => ({ status: 503, headers: { 'retry-after': '180' } }), /\(503\)$/],
  ])(
    '%s fires it within two minutes of good ones, says why, and the first good minute ends it',
    async (title, fault, why) => {
      for (let good = 0; good < 12; good++) await step();
      setFault(fault);
      isPaused = title.includes('pause');
      expect(await stepsUntil(fires('provider_failing'), 20)).toBeLessThanOrEqual(10);
      await step();
      const [alert, ...others] = await readAlerts();
      expect(others).toEqual([]);
      expect(alert).toMatchObject({ severity: 'critical', summary: expect.stringMatching(why) });
      setFault(() => undefined);
      // a pause that was asked for is kept
      if (isPaused) await environment.timers.advance(180_000);
      isPaused = false;
      expect(await stepsUntil(isOver, 20)).toBeLessThanOrEqual(6);
      for (let good = 0; good < 6; good++) await step();
      expect(await readAlerts()).toHaveLength(1);
    },
  );

  test('requests that take 5 s fire it, with the machine’s time frozen meanwhile', async () => {
    setFault((seen) => {
      if (seen.kind === 'show') void environment.timers.advance(5_000);
      return undefined;
    });
    expect(await stepsUntil(fires('provider_failing'), 20)).toBeLessThanOrEqual(10);
    expect((await readFiring())[0]?.summary).toMatch(/show requests fail or are slow .*\(slow\)$/);
  });

  test('a fault of half a minute, and a third of the requests, fire nothing', async () => {
    for (let good = 0; good < 3; good++) await step();
    setFault(() => ({ status: 503 }));
    for (let bad = 0; bad < 3; bad++) await step();
    setFault(() => undefined);
    for (let good = 0; good < 6; good++) await step();
    let nth = 0;
    setFault(() => (nth++ % 3 === 0 ? { status: 503 } : undefined));
    for (let some = 0; some < 15; some++) await step();
    expect(await readAlerts()).toEqual([]);
  });

  test('what one worker sees counts as its share of what all see', async () => {
    const other = await environment.replica();
    await using second = openOwnClient();
    const both = async (): Promise<void> => {
      setFault(() => undefined);
      for (const id of ids) await second.show(id);
      await checkProvider(other, second);
      setFault(({ kind }) => (kind === 'show' ? { status: 503 } : undefined));
      await step();
    };
    for (let steps = 0; steps < 10; steps++) await both();
    expect(await readProviderHealth(context)).toMatchObject({ suspect: { cause: '503' } });
    expect((await readFiring())[0]?.summary).toMatch(/^provider_failing: \d\d % of its show/);
  });

  test('a run that gave up is its alert where the list fails otherwise too, and run_failed where another page is answered', async () => {
    const run = { id: 'run_1', trigger: 'reconcile_recent' } as unknown as Parameters<typeof raiseRunAlert>[1];
    const error = new ProviderError('provider_unavailable', message('provider.answered', { status: 503 }), {
      status: 503,
    });
    setFault(() => ({ status: 503 }));
    await client.listPage({}, 1, { triesMax: 1 }).catch(() => undefined);
    await raiseRunAlert(context, run, error, client);
    expect(await readFiring()).toMatchObject([{ name: 'provider_failing' }]);
    setFault(() => undefined);
    expect(await stepsUntil(isOver, 20)).toBeLessThanOrEqual(7);
    await raiseRunAlert(context, run, error, client);
    expect(await readFiring()).toMatchObject([{ name: 'run_failed' }]);
  });
});

describe('provider_unauthorized', () => {
  test('a key that is refused everywhere is this one alert, and the first accepted request ends it', async () => {
    for (let good = 0; good < 3; good++) await step();
    setFault(() => ({ status: 401 }));
    expect(await stepsUntil(fires('provider_unauthorized'), 20)).toBeLessThanOrEqual(10);
    await step();
    expect((await readAlerts()).map(({ name }) => name)).toEqual(['provider_unauthorized']);
    setFault(() => undefined);
    // a backlog of shows comes before the list
    for (let round = 0; round < 3; round++) {
      for (const id of ids) await client.show(id);
      await checkProvider(context, client);
      expect(await isOver(), `round ${round}`).toBe(true);
      await environment.timers.advance(STEP_MS);
    }
    for (let good = 0; good < 6; good++) await step();
    expect(await readAlerts()).toHaveLength(1);
  });

  test('raised by a run, it ends with an accepted show, though no run was complete', async () => {
    setFault(({ kind }) => (kind === 'list' ? { status: 401 } : undefined));
    await failRun();
    expect(await readFiring()).toMatchObject([{ name: 'provider_unauthorized' }]);
    setFault(() => undefined);
    await environment.timers.advance(STEP_MS);
    expect(await stepsUntil(isOver, 5)).toBe(1);
  });

  test('a list that is forbidden while shows are accepted is one provider_failing, also over several runs', async () => {
    setFault(({ kind }) => (kind === 'list' ? { status: 403 } : undefined));
    await failRun();
    for (let steps = 0; steps < 10; steps++) await step();
    await failRun();
    await step();
    expect(await readFiring()).toMatchObject([
      { name: 'provider_failing', summary: expect.stringMatching(/list .*\(403\)$/) },
    ]);
    expect(await readAlerts()).toHaveLength(2);
  });
});

test('the watch asks for the list while requests fail, so the alert ends where nothing else is asked', async () => {
  const stopping = new AbortController();
  setFault(() => ({ status: 503 }));
  const ended = watchProvider({ ...context, signal: stopping.signal }, client);
  await client.listPage({}, 1, { triesMax: 1 }).catch(() => undefined);
  await eventually('the alert', async () => {
    await environment.timers.advance(1_000);
    return (await readFiring()).length > 0;
  });
  setFault(() => undefined);
  await eventually('its end', async () => {
    await environment.timers.advance(1_000);
    return (await readFiring()).length === 0;
  });
  stopping.abort();
  await ended;
});
