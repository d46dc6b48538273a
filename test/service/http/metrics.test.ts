import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import express from 'express';
import { Counter } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it, test, vi } from 'vitest';
import { readCallbackMetrics } from '../../../src/callbacks/health/read-callback-metrics.ts';
import { METRIC_READERS } from '../../../src/commands/serve/metric-readers.ts';
import { listenHttp, serveHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { createWorkerApp } from '../../../src/http/create-worker-app.ts';
import { createMetricsPage } from '../../../src/http/expose-metrics.ts';
import { registry } from '../../../src/metrics/metrics.ts';
import type { Reading } from '../../../src/metrics/reading.ts';
import { dayAgo } from '../../support/make-provider-rows.ts';
import { openEnvironment, TEST_HTTP_LIMITS, type TestEnvironment } from '../../support/open-environment.ts';
import { openServedEnvironment, type ServedEnvironment } from '../../support/open-served-environment.ts';
import { API_KEY } from '../../support/start-serve.ts';
import { TestProvider } from '../../support/test-provider.ts';

const DOCUMENT = readFileSync(path.resolve(import.meta.dirname, '../../../docs/metrics.md'), 'utf8');

type Metric = { type: string; labels: string[]; from: string };

/** The metrics of docs/metrics.md, by name. */
const documented = new Map(
  [...DOCUMENT.matchAll(/^\| `(confere_\w+)` \| (\w+) \|(.*?)\| .* \| (database|process) \|$/gm)].map(
    ([, name = '', type = '', labels = '', from = '']): [string, Metric] => [
      name,
      { type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label).sort(), from },
    ],
  ),
);

/** Values by name and labels. */
function parse(text: string): Map<string, number> {
  return new Map(
    [...text.matchAll(/^(\w+(?:\{.*\})?) (\S+)$/gm)].map(([, series = '', value]) => [series, Number(value)]),
  );
}

/** Each metric of a scrape: its type, and the labels of its series. */
function describeMetrics(text: string): Map<string, Omit<Metric, 'from'>> {
  return new Map(
    [...text.matchAll(/^# TYPE (confere_\w+) (\w+)$/gm)].map(([, name = '', type = '']) => {
      const series = [...text.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?(?:\\{(.*)\\})? `, 'gm'))];
      const labels = series.flatMap(([, found = '']) => [...found.matchAll(/(\w+)="/g)].map(([, label = '']) => label));
      return [name, { type, labels: [...new Set(labels)].filter((label) => label !== 'le').sort() }];
    }),
  );
}

describe('a served process', () => {
  let provider: TestProvider;
  let web: ServedEnvironment;
  let worker: ServedEnvironment;
  beforeAll(async () => {
    provider = await new TestProvider(API_KEY).listen();
    web = await openServedEnvironment({ providerUrl: provider.url, sides: { web: true, worker: false } });
    worker = await openServedEnvironment({ providerUrl: provider.url, sides: { web: false, worker: true } });
  });
  afterAll(async () => {
    await worker[Symbol.asyncDispose]();
    await web[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
  });
  const scrape = async ({ url }: ServedEnvironment): Promise<string> => await (await fetch(`${url}/metrics`)).text();

  it.each(['web', 'worker'])('is scraped without a fault that promtool finds: %s', async (side) => {
    const input = await scrape(side === 'web' ? web : worker);
    expect(input).toContain('confere_build_info');
    expect(execFileSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })).toBe('');
  });

  it('has each documented metric with its type and labels from the first scrape, and no other', async () => {
    const expected = Object.fromEntries([...documented].map(([name, { type, labels }]) => [name, { type, labels }]));
    expect(documented.size).toBeGreaterThan(50);
    expect(Object.fromEntries(describeMetrics(await scrape(worker)))).toEqual(expected);
    expect(Object.fromEntries(describeMetrics(await scrape(web)))).toEqual(expected);
  });

  it('reads everything without a failure', async () => {
    const failed = [...parse(await scrape(worker))].filter(([series]) => series.startsWith('confere_scrape_failed'));
    expect(failed.map(([, value]) => value)).toEqual(Object.keys(METRIC_READERS).map(() => 0));
  });

  it('without the web side serves its health and metrics alone', async () => {
    const ask = async (target: string, init?: RequestInit) => {
      const answer = await fetch(`${worker.url}${target}`, init);
      return { status: answer.status, type: answer.headers.get('content-type'), body: await answer.text() };
    };
    expect(await ask('/healthz')).toMatchObject({ status: 200, body: '{"alive":true}' });
    expect(await ask('/readyz')).toMatchObject({ status: 200, body: '{"ready":true}' });
    expect(await ask('/metrics')).toMatchObject({ status: 200, type: expect.stringContaining('version=0.0.4') });
    expect(await ask('/metrics', { headers: { 'x-forwarded-for': '203.0.113.7' } })).toMatchObject({ status: 401 });
    const missing = { status: 404, type: expect.stringContaining('application/problem+json') };
    for (const target of ['/', '/Healthz', '/metrics/x', '/api/v1/transactions', '/api/v1/openapi.json', '/login'])
      expect(await ask(target), target).toMatchObject(missing);
    expect(await ask('/webhooks/pix', { method: 'POST', body: '{}' })).toMatchObject(missing);
  });

  it('says which port is in use', async () => {
    const sides = { web: false, worker: true };
    const env = { PORT: new URL(web.url).port };
    const second = openServedEnvironment({ providerUrl: provider.url, env, sides });
    await expect(second).rejects.toThrow(
      `can't listen on 127.0.0.1:${env.PORT} (EADDRINUSE): set another HOST or PORT`,
    );
  });

  it('starts no timer where it can not listen: the process would never end', async () => {
    const timers = vi.spyOn(globalThis, 'setInterval');
    const config = { ...web.context.config, PORT: Number(new URL(web.url).port) };
    const limits = { ...TEST_HTTP_LIMITS, checkEveryMs: 12_345 };
    await expect(listenHttp(config, express(), limits)).rejects.toThrow('EADDRINUSE');
    const started = timers.mock.calls.filter(([, ms]) => ms === limits.checkEveryMs);
    timers.mockRestore();
    expect(started).toEqual([]);
  });
});

describe('the metrics of the database', () => {
  let env: TestEnvironment;
  let scrapes: Map<string, number>[];

  beforeAll(async () => {
    env = await openEnvironment({ PROVIDER_RATE: '600/m' });
    env.timers.freeze();
    await writeState(env);
    const [second, third] = [await env.replica(), await env.replica()];
    const apps = [
      [env.context, createApp(env.context, undefined, undefined, METRIC_READERS)],
      [second, createApp(second, undefined, undefined, METRIC_READERS)],
      [third, createWorkerApp(third, METRIC_READERS)],
    ] as const;
    scrapes = [];
    for (const [context, app] of apps) {
      const { port } = env.use(await serveHttp(context, app, TEST_HTTP_LIMITS));
      scrapes.push(parse(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()));
    }
  });
  afterAll(() => env[Symbol.asyncDispose]());

  it('count callbacks of a state up to a limit: a backlog makes no scrape slow', async () => {
    const [counts] = await readCallbackMetrics(env.context, 3);
    expect(counts?.values).toEqual([
      { labels: { state: 'pending' }, value: 3 },
      { labels: { state: 'held' }, value: 0 },
      { labels: { state: 'failed' }, value: 1 },
    ]);
  });

  it('say what the database holds', () => {
    const [first] = scrapes;
    expect(Object.fromEntries(first ?? [])).toMatchObject({
      'confere_webhooks{state="received"}': 0,
      'confere_webhooks{state="quarantined"}': 1,
      confere_quarantine_bytes: 5,
      'confere_webhook_items_pending{fetch="due"}': 1,
      'confere_webhook_items_pending{fetch="scheduled"}': 1,
      'confere_callbacks{state="pending"}': 4,
      'confere_callbacks{state="held"}': 0,
      'confere_callbacks{state="failed"}': 1,
      'confere_runs{state="complete"}': 2,
      'confere_runs{state="failed"}': 1,
      'confere_mismatches_open{kind="stuck"}': 1,
      'confere_mismatches_stake_cents{kind="stuck"}': 1250,
      'confere_mismatches_open{kind="webhook_lost"}': 0,
      'confere_alerts_firing{severity="critical"}': 1,
      'confere_alerts_firing{severity="medium"}': 0,
      confere_provider_budget_ratio: 0.25,
      'confere_expected_payments{state="unpaid"}': 2,
      'confere_expected_payments{state="open"}': 1,
    });
    expect(first?.has('confere_expected_payments{state="paid"}')).toBe(false);
    const ageOf = (name: string): number => first?.get(name) ?? -1;
    expect(ageOf('confere_webhook_verification_overdue_seconds')).toBeCloseTo(120, 0);
    expect(ageOf('confere_callbacks_oldest_pending_age_seconds')).toBeCloseTo(300, 0);
    expect(ageOf('confere_callbacks_overdue_seconds')).toBeCloseTo(30, 0);
    expect(ageOf('confere_expected_undecided_seconds')).toBeCloseTo(90, 0);
    const now = env.context.clock.now().getTime() / 1000;
    const instantOf = (wall: string): number => env.context.calendar.toInstant(wall).getTime() / 1000;
    expect(ageOf('confere_report_newest_day_end_timestamp_seconds')).toBe(instantOf(`${dayAgo(2)} 00:00:00`));
    expect(ageOf('confere_report_overdue_seconds')).toBeCloseTo(now - instantOf(`${dayAgo(1)} 06:00:00`), 0);
    expect(now - ageOf('confere_runs_today_complete_timestamp_seconds')).toBeCloseTo(0, 0);
    expect(now - ageOf('confere_last_webhook_timestamp_seconds')).toBeCloseTo(120, 0);
    expect(now - ageOf('confere_worker_seen_timestamp_seconds{loop="inbox"}')).toBeCloseTo(40, 0);
    expect(ageOf('confere_worker_seen_timestamp_seconds{loop="sealer"}')).toBe(0);
    expect(ageOf('confere_disk_free_bytes{directory="DATA_DIR"}')).toBeGreaterThan(0);
    expect(ageOf('confere_disk_free_limit_bytes')).toBe(2 * 1024 ** 3);
  });

  it('are the same from each process of each kind', () => {
    const [first, ...others] = scrapes;
    // waits for locks are counted over the whole server, where other tests' databases are too; sizes are its estimates
    const state = [...(first ?? [])].filter(
      ([series]) =>
        documented.get(series.replace(/\{.*/, ''))?.from === 'database' &&
        !/^confere_database_lock_waits_total|^confere_table_/.test(series),
    );
    expect(state.length).toBeGreaterThan(60);
    for (const other of others) {
      // their clocks differ by milliseconds
      const differing = state.filter(([series, value]) => !(Math.abs((other.get(series) ?? Number.NaN) - value) < 1));
      expect(differing).toEqual([]);
    }
  });
});

describe('a reader', () => {
  let env: TestEnvironment;
  beforeAll(async () => {
    env = await openEnvironment();
    env.timers.freeze();
  });
  afterAll(() => env[Symbol.asyncDispose]());

  const gauge = (name: string, values: number): Reading[] => [{ name, help: 'Of a test.', values }];
  const sampleOf = (text: string, series: string) => parse(text).get(series);

  it('reads once in 15 s for all scrapes', async () => {
    let reads = 0;
    const page = createMetricsPage(env.context, { one: async () => gauge('one', ++reads) });
    expect((await Promise.all([page(), page(), page()])).map((text) => sampleOf(text, 'one'))).toEqual([1, 1, 1]);
    await env.timers.advance(14_000);
    expect(sampleOf(await page(), 'one')).toBe(1);
    await env.timers.advance(1_000);
    expect(sampleOf(await page(), 'one')).toBe(2);
  });

  it('is on a page that the scrapes of one second share', async () => {
    const counted = new Counter({ name: 'confere_scrapes', help: 'Of a test.', registers: [registry] });
    let renders = 0;
    Object.assign(counted, { collect: () => void renders++ });
    const page = createMetricsPage(env.context, {});
    const [first, ...others] = await Promise.all(Array.from({ length: 50 }, page));
    expect([others.every((text) => text === first), renders]).toEqual([true, 1]);
    await env.timers.advance(999);
    await page();
    expect(renders).toBe(1);
    counted.inc(7);
    await env.timers.advance(1);
    expect(sampleOf(await page(), 'confere_scrapes')).toBe(7);
    registry.removeSingleMetric('confere_scrapes');
  });

  it('that takes long reads less often', async () => {
    let reads = 0;
    const slow = async () => {
      await env.timers.advance(2_000);
      return gauge('one', ++reads);
    };
    const page = createMetricsPage(env.context, { slow });
    await page();
    await env.timers.advance(39_000);
    expect(sampleOf(await page(), 'one')).toBe(1);
    await env.timers.advance(1_000);
    expect(sampleOf(await page(), 'one')).toBe(2);
  });

  it('that fails is absent and named, the others stay, and the next read shows it again', async () => {
    let isAway = false;
    const flaky = async () => {
      if (isAway) throw new Error('away');
      return gauge('flaky', 7);
    };
    const page = createMetricsPage(env.context, { flaky, steady: async () => gauge('steady', 1) });
    const read = async () => {
      const text = await page();
      return [
        sampleOf(text, 'flaky'),
        sampleOf(text, 'steady'),
        sampleOf(text, 'confere_scrape_failed{reader="flaky"}'),
      ];
    };
    expect(await read()).toEqual([7, 1, 0]);
    isAway = true;
    await env.timers.advance(15_000);
    expect(await read()).toEqual([undefined, 1, 1]);
    isAway = false;
    await env.timers.advance(15_000);
    expect(await read()).toEqual([7, 1, 0]);
  });

  it('that hangs is absent from a scrape, which does not wait for it', async () => {
    const hanging = Promise.withResolvers<Reading[]>();
    const page = createMetricsPage(env.context, { hanging: () => hanging.promise });
    const scraped = page();
    await env.timers.advance(5_000);
    expect(sampleOf(await scraped, 'confere_scrape_failed{reader="hanging"}')).toBe(1);
    hanging.resolve(gauge('late', 3));
    await env.timers.advance(1_000);
    expect(sampleOf(await page(), 'late')).toBe(3);
  });
});

test('a worker is not ready where no commit lands', async () => {
  await using env = await openEnvironment();
  const { context } = env;
  const { port } = env.use(await serveHttp(context, createWorkerApp(context, {}), TEST_HTTP_LIMITS));
  await context.db.schema.alterTable('settings').renameTo('settings_away').execute();
  expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(503);
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  await context.db.schema.alterTable('settings_away').renameTo('settings').execute();
});

/** One row or two of each thing that is counted. */
async function writeState({ context }: TestEnvironment): Promise<void> {
  const { db, clock } = context;
  const now = clock.now();
  const ago = (seconds: number): Date => new Date(now.getTime() - seconds * 1000);
  const webhook = { source_address: '192.0.2.1', headers: '{}', received_at: ago(120) };
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  await db
    .insertInto('webhooks')
    .values([
      { ...webhook, hash: hash('a'), body: Buffer.from('12345'), state: 'quarantined', reason: 'not_json' },
      { ...webhook, hash: hash('b'), body: Buffer.from('{}'), state: 'pending' },
    ])
    .execute();
  const item = { webhook_seq: 2, received_at: ago(120), state: 'pending' };
  await db
    .insertInto('webhook_items')
    .values([
      { ...item, position: 0, next_look_at: ago(60) },
      { ...item, position: 1, next_look_at: ago(-60) },
    ])
    .execute();
  await db
    .insertInto('merchants')
    .values(
      [{}, {}, { rate: 1 }, { state: 'paused' }].map((more, index) => ({
        ...{ seq: index + 1, id: `m${index}`, name: 'm', url: 'https://shop.example', filter: '{}' },
        ...{ events_since: now, created_at: now, ...more },
      })),
    )
    .execute();
  const callback = { merchant_seq: 1, type: 'pix.cashin.paid', source: 'webhook', created_at: ago(300) };
  await db
    .insertInto('callbacks')
    .values([
      { ...callback, webhook_id: 'a', state: 'pending', next_attempt_at: ago(-60) },
      { ...callback, webhook_id: 'b', state: 'pending', next_attempt_at: ago(30), merchant_seq: 2 },
      { ...callback, webhook_id: 'c', state: 'failed' },
      // of a merchant with a rate
      { ...callback, webhook_id: 'd', state: 'pending', next_attempt_at: ago(200), merchant_seq: 3 },
      // of a paused merchant, not held yet
      { ...callback, webhook_id: 'e', state: 'pending', next_attempt_at: ago(100), merchant_seq: 4 },
    ])
    .execute();
  const today = context.calendar.dayOf(now);
  const run = { trigger: 'api', from_day: '2026-01-01', created_at: now, created_by: 'test', started_at: now };
  await db
    .insertInto('runs')
    .values([
      { ...run, id: 'a', state: 'complete', to_day: today },
      { ...run, id: 'b', state: 'complete', to_day: '2026-01-02' },
      { ...run, id: 'c', state: 'failed', to_day: today },
    ])
    .execute();
  const mismatch = { kind: 'stuck', severity: 'medium', scope: 's', opened_at: now, amount_cents: 1250n };
  await db
    .insertInto('mismatches')
    .values([
      { ...mismatch, id: 'a', state: 'open', open_scope: 'stuck s' },
      { ...mismatch, id: 'b', state: 'resolved' },
    ])
    .execute();
  const cuts = { cut_entry_seq: 0, cut_event_seq: 0, cut_mismatch_change_seq: 0 };
  const checked = { checked_entry_seq: 0, checked_event_seq: 0, locale: 'en', full_documents: 0, version: '' };
  const report = { made_at: now, proven: 1, digest: hash('a'), sha256: hash('b'), files: '[]', ...cuts, ...checked };
  await db
    .insertInto('reports')
    .values([
      { ...report, day: dayAgo(3), revision: 1, state: 'closed' },
      { ...report, day: dayAgo(0), revision: 1, state: 'partial' },
    ])
    .execute();
  const alert = { name: 'books_broken', severity: 'critical', scope: 's', summary: '', raised_at: now };
  await db
    .insertInto('alerts')
    .values([
      { ...alert, id: 'a', firing_scope: 'books_broken s' },
      { ...alert, id: 'b', ended_at: now },
    ])
    .execute();
  await db
    .insertInto('heartbeats')
    .values([
      { part: 'inbox', holder: 'a', host: 'h', seen_at: ago(40) },
      { part: 'inbox', holder: 'b', host: 'h', seen_at: ago(90) },
    ])
    .execute();
  const day = '2026-01-01';
  const expected = { source: 'shop', operation: 'cashin', created_at: now, created_day: day, amount_cents: 100n };
  const term = { version: 1, issued_day: day, due_day: day, end_day: day, state_at: now };
  await db
    .insertInto('expected_payments')
    .values(
      [{ state: 'unpaid' }, { state: 'unpaid' }, { state: 'paid' }, { state: 'open', look_at: ago(20) }].map(
        (more, index) => ({ ...expected, ...term, id: `ep_${index}`, number: `${index}`, version_seq: index, ...more }),
      ),
    )
    .execute();
  await db
    .insertInto('expected_work')
    .values([
      // it failed, and is deferred
      { expected_seq: 1, created_at: ago(90), due_at: ago(-30) },
      { transaction_seq: 1, created_at: ago(5), due_at: ago(5) },
    ])
    .execute();
  // a bucket of 600/m holds 60
  await db
    .insertInto('provider_budget')
    .values({ name: 'provider', tokens: 15, filled_at: ago(-1) })
    .execute();
}
