import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createApi, findFreePort, type Program, startProgram } from '../../../demo/start-programs.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { eventually } from '../../support/eventually.ts';
import { makeRow } from '../../support/make-provider-rows.ts';
import { openHttpSink } from '../../support/open-http-sink.ts';
import { openMerchantServer } from '../../support/open-merchant-server.ts';
import { readSpans, type Span } from '../../support/read-spans.ts';
import {
  ADMIN_TOKEN,
  API_KEY,
  NO_RUNS,
  SECRET_KEY,
  sendWebhook,
  temporaryDirectory,
  urlOf,
  WEBHOOK_SECRET,
} from '../../support/start-serve.ts';
import { TestProvider } from '../../support/test-provider.ts';

/** Writes a line to the log for each module of OpenTelemetry that anything but prom-client asks for (it loads the API). */
const WATCH_IMPORTS = `--import=data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({ resolve(name, context, next) {
    if (name.startsWith('@opentelemetry/') && !context.parentURL?.includes('/prom-client/')) console.log('LOADED ' + name);
    return next(name, context);
  } });`)}`;
const SENT_TRACE = '11111111111111111111111111111111';

async function openParts() {
  await using stack = new AsyncDisposableStack();
  const home = stack.use(temporaryDirectory());
  const provider = stack.use(await new TestProvider(API_KEY).listen());
  const shop = stack.use(await openMerchantServer());
  const database = urlOf(await createTestDatabase());
  const owned = stack.move();
  const start = async (role: string, env: Record<string, string>) => {
    const port = await findFreePort();
    const args = ['serve', ...(role === 'all' ? [] : [`--${role}`])];
    const program = startProgram(home.path, role, args, {
      ...{ DATABASE_URL: database, SECRET_KEY, DATA_DIR: path.join(home.path, 'data'), PORT: String(port), ...NO_RUNS },
      ...{ PROVIDER_URL: provider.url, PROVIDER_API_KEY: API_KEY, ADMIN_TOKEN, WEBHOOK_SECRET },
      ...{ CALLBACK_ALLOW_PRIVATE: 'true', ...env },
    });
    owned.use(program);
    return { ...program, url: `http://127.0.0.1:${port}` };
  };
  const isUp = (url: string) =>
    fetch(`${url}/healthz`).then(
      (answer) => answer.ok,
      () => false,
    );
  /** Sends a paid webhook of a new transaction once the service is up, and waits for its callbacks. @returns its id. */
  const pay = async (url: string, headers: Record<string, string>, facts: Record<string, string> = {}) => {
    const row = makeRow({ history: ['paid'], ...facts });
    provider.add(row);
    await eventually('the web side is up', () => isUp(url));
    const since = { events_since: '2020-01-01T00:00:00Z' };
    await createApi(url, '/api/v1', ADMIN_TOKEN).call('POST', '/merchants', {
      ...{ name: 'Loja', url: `${shop.url}/all?key=hidden-in-url`, ...since },
    });
    const body = { transaction_id: row.id, status: 'paid', transaction_amount: '10.00' };
    const answer = await sendWebhook(url, body, headers);
    expect(answer).toMatchObject({ status: 200, json: { received: true } });
    await eventually('the callbacks are delivered', () => shop.calls.length >= 2);
    return String(answer.json.id);
  };
  return { start, pay, shop, provider, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function stop(...programs: Program[]): Promise<(number | null)[]> {
  const ended = programs.map(({ child }) => new Promise<number | null>((resolve) => child.once('exit', resolve)));
  for (const { child } of programs) child.kill('SIGTERM');
  return await Promise.all(ended);
}

function linesOf({ logFile }: Program): Record<string, unknown>[] {
  const lines = readFileSync(logFile, 'utf8').split('\n');
  return lines.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : []));
}

test('one trace and one set of log lines lead from the POST at a web process to the callback of a worker process', async () => {
  await using collector = await openHttpSink();
  await using parts = await openParts();
  const env = { LOG_LEVEL: 'debug', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: 'confere-test' };
  // the web side sends its spans when it stops
  const web = await parts.start('web', { ...env, OTEL_BSP_SCHEDULE_DELAY: '60000' });
  const worker = await parts.start('worker', { ...env, OTEL_BSP_SCHEDULE_DELAY: '100', NODE_OPTIONS: WATCH_IMPORTS });
  const facts = { reference: 'ref-of-a-person', extra: 'extra-of-a-person', name: 'Maria Aparecida' };
  const headers = { 'x-request-id': 'req-one', traceparent: `00-${SENT_TRACE}-2222222222222222-01` };
  const id = await parts.pay(web.url, headers, facts);
  await eventually('the worker sends while it runs', () =>
    readSpans(collector.posted).some((span) => span.name === 'callback.attempt'),
  );
  expect(await stop(web, worker)).toEqual([0, 0]);

  const spans = readSpans(collector.posted);
  const named = (name: string): Span => {
    const span = spans.find((one) => one.name === name);
    if (!span) throw new Error(`no span ${name} among ${spans.map((one) => one.name).join(', ')}`);
    return span;
  };
  const receive = named('webhook.receive');
  expect(receive.parentSpanId, 'the sender has no say in it').toBeUndefined();
  expect(receive.links?.map(({ traceId }) => traceId)).toEqual([SENT_TRACE]);
  expect(receive.attributes).toContainEqual({ key: 'confere.webhook', value: { stringValue: id } });
  const parents = Object.entries({
    'webhook.commit': 'webhook.receive',
    'webhook.split': 'webhook.receive',
    'webhook.verify': 'webhook.receive',
    'provider.request': 'webhook.verify',
    'ledger.apply': 'webhook.verify',
    'callback.enqueue': 'ledger.apply',
    'callback.attempt': 'ledger.apply',
  });
  for (const [child, parent] of parents) expect(named(child).parentSpanId, child).toBe(named(parent).spanId);
  expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([receive.traceId]));
  const attempts = spans.filter((span) => span.name === 'callback.attempt');
  expect(attempts).toHaveLength(2);
  for (const { attributes } of attempts)
    expect(attributes).toContainEqual({ key: 'http.response.status_code', value: { intValue: 200 } });
  expect(named('webhook.commit').instance).toBe(receive.instance);
  expect(named('callback.attempt').instance).not.toBe(receive.instance);
  const sent = collector.posted.map(({ text }) => text).join('\n');
  expect(sent).toContain('confere-test');

  const lines = { web: linesOf(web), worker: linesOf(worker) };
  for (const [role, some] of Object.entries(lines)) {
    expect(some.length).toBeGreaterThan(2);
    for (const line of some) expect(line).toMatchObject({ role, version: expect.any(String), pid: expect.any(Number) });
    expect(new Set(some.map((line) => line.instance)).size, role).toBe(1);
  }
  expect(lines.web[0]?.instance, 'logs and spans name a process alike').toBe(receive.instance);
  expect(lines.worker.find((line) => line.msg === 'worker started')).toMatchObject({
    loops: expect.arrayContaining(['inbox', 'runs', 'callbacks']),
    jobs: expect.arrayContaining(['watch', 'check_books']),
    concurrency: { runs: 3 },
    connections: { pool: 20, receiver: 3, ledger: 8 },
  });
  const found = followWebhook(id, [web.logFile, worker.logFile]);
  const stages = found.map((line) => `${String(line.role)} ${String(line.stage)}`);
  expect(new Set(stages)).toEqual(
    new Set([
      'web received',
      ...['parsed', 'verified', 'applied', 'enqueued', 'delivered'].map((one) => `worker ${one}`),
    ]),
  );
  expect(found.filter((line) => line.stage === 'delivered')).toHaveLength(2);
  expect(found.find((line) => line.stage === 'received')).toMatchObject({ request_id: 'req-one', webhook: id });
  for (const line of found.filter(({ stage }) => ['received', 'verified', 'delivered'].includes(String(stage))))
    expect(line, String(line.stage)).toMatchObject({ trace_id: receive.traceId, span_id: expect.any(String) });

  const logs = [web, worker].map(({ logFile }) => readFileSync(logFile, 'utf8')).join('\n');
  expect(logs, 'the SDK is seen where it is loaded').toContain('LOADED @opentelemetry/sdk-trace');
  for (const secret of [...Object.values(facts), 'hidden-in-url', API_KEY, WEBHOOK_SECRET])
    for (const [where, text] of Object.entries({ sent, logs }))
      expect(text.includes(secret), `${secret} in ${where}`).toBe(false);
});

/** Runs the command of docs/trace.md. */
function followWebhook(id: string, files: string[]): Record<string, unknown>[] {
  const page = readFileSync(path.resolve(import.meta.dirname, '../../../docs/trace.md'), 'utf8');
  const filter = /jq -Rnc --arg id wh_… '([^']+)'/.exec(page)?.[1] ?? '';
  const output = execFileSync('jq', ['-Rnc', '--arg', 'id', id, filter, ...files], { encoding: 'utf8' });
  return output
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('without OTEL_EXPORTER_OTLP_ENDPOINT nothing of OpenTelemetry is loaded, and `info` says nothing of a webhook', async () => {
  await using parts = await openParts();
  const all = await parts.start('all', { OTEL_SERVICE_NAME: 'confere-test', NODE_OPTIONS: WATCH_IMPORTS });
  const id = await parts.pay(all.url, {});
  expect(await stop(all)).toEqual([0]);
  const log = readFileSync(all.logFile, 'utf8');
  expect(log).not.toContain('LOADED');
  expect(log).toContain('worker started');
  expect(log).not.toContain(id);
  expect(log).not.toContain('trace_id');
});

test('a collector that never answers delays no webhook, no callback and no stop', async () => {
  await using parts = await openParts();
  let connections = 0;
  const silent = createServer(() => connections++);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const address = silent.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_BSP_SCHEDULE_DELAY: '50' };
  const all = await parts.start('all', env);
  await parts.pay(all.url, {});
  await eventually('spans are sent', () => connections > 0);
  expect(await stop(all)).toEqual([0]);
  expect(linesOf(all).filter((line) => /these spans are lost/.test(String(line.msg))).length).toBe(1);
  silent.close();
});
