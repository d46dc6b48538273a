import { afterEach, beforeEach, expect, test } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { listenHttp } from '../../../src/http/connections/serve-http.ts';
import { createSpoolApp } from '../../../src/http/receiver/create-spool-app.ts';
import { writeSpooled } from '../../../src/inbox/receive/write-spooled.ts';
import { openSpool } from '../../../src/inbox/spool/spool.ts';
import { claimRun } from '../../../src/reconciliation/runs/claim-run.ts';
import { executeRun } from '../../../src/reconciliation/runs/process-runs.ts';
import { startRun } from '../../../src/reconciliation/runs/start-run.ts';
import { inSpan, recordSpan } from '../../../src/tracing/in-span.ts';
import { startTracing } from '../../../src/tracing/start-tracing.ts';
import { dayAgo, makeDay } from '../../support/make-provider-rows.ts';
import { openEnvironment, TEST_HTTP_LIMITS } from '../../support/open-environment.ts';
import { type HttpSink, openHttpSink } from '../../support/open-http-sink.ts';
import { openReconciliationEnvironment } from '../../support/open-reconciliation-environment.ts';
import { readSpans, type Span } from '../../support/read-spans.ts';
import { sendWebhook, temporaryDirectory } from '../../support/start-serve.ts';

let collector: HttpSink;

beforeEach(async () => {
  collector = await openHttpSink();
});
afterEach(async () => {
  await collector[Symbol.asyncDispose]();
});

/** Traces `work` in this process. @returns the spans that the collector has once tracing has ended. */
async function traced(work: () => Promise<unknown>, env: Record<string, string> = {}): Promise<Span[]> {
  const config = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`, ...env });
  {
    await using _ = await startTracing(config, { instance: 'one', role: 'all' }, () => undefined);
    await work();
  }
  expect(collector.posted.map(({ path }) => path)).toEqual(collector.posted.map(() => '/v1/traces'));
  return readSpans(collector.posted);
}

test('a run is one trace with its pages, and a claim that resumes it continues the trace', async () => {
  await using environment = await openReconciliationEnvironment();
  const { context, provider, client } = environment;
  const day = dayAgo(3);
  provider.add(...makeDay(day, 150, { history: ['paid'] }));
  const { id } = await startRun(context, { from: day, to: day, trigger: 'test', createdBy: 'test' });
  const work = async (): Promise<void> => {
    const run = await claimRun(context, { id });
    if (!run) throw new Error('the run could not be claimed');
    await executeRun(context, client, run);
  };
  const spans = await traced(async () => {
    provider.switches.fault = () => ({ status: 429, headers: { 'retry-after': '3000' } });
    await work();
    provider.switches.fault = () => undefined;
    await environment.timers.advance(3_600_000);
    await work();
  });

  expect(new Set(spans.map((span) => span.traceId)).size).toBe(1);
  const [begun, resumed, ...more] = spans.filter((span) => span.name === 'reconciliation.run');
  expect(more).toEqual([]);
  expect(begun?.parentSpanId).toBeUndefined();
  expect(resumed?.parentSpanId).toBe(begun?.spanId);
  const pages = spans.filter((span) => span.name === 'reconciliation.page');
  expect(pages.length).toBeGreaterThanOrEqual(2);
  for (const page of pages) expect(page.parentSpanId).toBe(resumed?.spanId);
  const requests = spans.filter((span) => span.name === 'provider.request');
  expect(requests.length).toBeGreaterThan(pages.length);
  const untraced = await environment.reconcile(day, day);
  const stored = await context.db.selectFrom('runs').select(['id', 'traceparent']).orderBy('seq').execute();
  expect(stored).toEqual([
    { id, traceparent: `00-${begun?.traceId}-${begun?.spanId}-01` },
    { id: untraced.id, traceparent: null },
  ]);
  expect(requests[0]?.attributes).toContainEqual({ key: 'error.type', value: { stringValue: 'provider_unavailable' } });
});

test('a trace goes through the spool into the inbox', async () => {
  using home = temporaryDirectory();
  await using environment = await openEnvironment();
  const { context } = environment;
  await using spool = openSpool(home.path);
  const app = createSpoolApp(context.config, context.log, spool, context.signal);
  const server = environment.use(await listenHttp(context.config, app, TEST_HTTP_LIMITS));
  const spans = await traced(() => sendWebhook(`http://127.0.0.1:${server.port}`, { transaction_id: 'tx-1' }));

  const [name = ''] = await spool.claimSegments();
  expect(await writeSpooled(context, spool.readSegment(name)?.records ?? [])).toEqual([]);
  const row = await context.db.selectFrom('webhooks').select('headers').executeTakeFirstOrThrow();
  const receive = spans.find((span) => span.name === 'webhook.receive');
  expect(JSON.parse(row.headers)).toMatchObject({
    'confere-traceparent': `00-${receive?.traceId}-${receive?.spanId}-01`,
  });
});

test('the sampler chooses traces, and what they cause follows', async () => {
  const [sampled, unsampled] = ['01', '00'].map((flags) => `00-${'a'.repeat(32)}-${'b'.repeat(16)}-${flags}`);
  const work = async (): Promise<void> => {
    await inSpan('root', {}, async () => undefined);
    await inSpan('follows', {}, async () => undefined, { parent: sampled });
    await inSpan('does not follow', {}, async () => undefined, { parent: unsampled });
    recordSpan('recorded', {}, sampled, Date.now());
    recordSpan('not recorded', {}, unsampled, Date.now());
    recordSpan('of no trace', {}, undefined, Date.now());
    await inSpan('part of nothing', {}, async () => undefined, { isPart: true });
  };
  const spans = await traced(work, { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' });
  expect(spans.map((span) => span.name)).toEqual(['follows', 'recorded']);
});
