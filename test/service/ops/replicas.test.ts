import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findFreePort, type Program, startProgram } from '../../../demo/start-programs.ts';
import { eventually } from '../../support/eventually.ts';
import { makeRow } from '../../support/make-provider-rows.ts';
import { type HttpSink, openHttpSink } from '../../support/open-http-sink.ts';
import { type MerchantServer, openMerchantServer } from '../../support/open-merchant-server.ts';
import { openServedEnvironment, type ServedEnvironment } from '../../support/open-served-environment.ts';
import { DEEP } from '../../support/property.ts';
import { readRow } from '../../support/read-rows.ts';
import { readSample, startAlertmanager, startPrometheus } from '../../support/start-ops.ts';
import { API_KEY, sendWebhook, temporaryDirectory } from '../../support/start-serve.ts';
import { startSide } from '../../support/start-side.ts';
import { TestProvider } from '../../support/test-provider.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

type Series = { metric: Record<string, string>; value: [number, string] };
type Notified = { alerts: { status: string; labels: Record<string, string> }[] };

/** Metrics of the database, which each process shows. Those of the whole server also count other databases, and sizes are estimates. */
const OF_DATABASE = [...read('docs/metrics.md').matchAll(/^\| `(confere_\w+)` .* \| database \|$/gm)]
  .map(([, name = '']) => name)
  .filter((name) => !/lock_wait|_table_/.test(name));
/** A reading is cached for 15 s, and a heartbeat written every 20 s: ages and times differ by that. */
const AGE_SECONDS_MAX = 40;
const PAYMENTS = 100;

const stack = new AsyncDisposableStack();
const home = stack.use(temporaryDirectory());
let provider: TestProvider;
let shop: MerchantServer;
let pager: HttpSink;
let web: ServedEnvironment;
let webPort: number;
let killed: Program;
let killedPort: number;
let worker: Awaited<ReturnType<typeof startSide>>;
let prometheus: string;
let alertmanager: Awaited<ReturnType<typeof startAlertmanager>>;

beforeAll(async () => {
  provider = stack.use(await new TestProvider(API_KEY).listen());
  shop = stack.use(await openMerchantServer());
  pager = stack.use(await openHttpSink());
  killedPort = await findFreePort();
  const config = readSample('alertmanager.yml')
    .replace('group_wait: 30s', 'group_wait: 0s')
    .replace('group_interval: 15s', 'group_interval: 1s')
    .replaceAll('http://127.0.0.1:9/', `${pager.url}/`);
  // the test's time is minutes ahead in the end
  alertmanager = stack.use(await startAlertmanager(home.path, `global: { resolve_timeout: 1h }\n${config}`));
  const env = { ALERTMANAGER_URL: alertmanager.url };
  web = stack.use(await openServedEnvironment({ providerUrl: provider.url, env, sides: { web: true, worker: false } }));
  ({ port: webPort } = await startSide(web, 'web'));
  worker = await startSide(web, 'worker');
  killed = stack.use(
    startProgram(home.path, 'worker', ['serve', '--worker'], {
      ...web.env,
      DATA_DIR: path.join(home.path, 'data'),
      PORT: String(killedPort),
    }),
  );
  await eventually('the process answers', async () => {
    const answer = await fetch(`http://127.0.0.1:${killedPort}/healthz`).catch(() => undefined);
    return answer?.ok;
  });
  if (DEEP) await scrape();
});
afterAll(() => stack.disposeAsync());

/** Starts Prometheus. Readings are cached for 15 s, so the first scrape comes after the load; in `npm run test:deep`, before it. */
async function scrape(): Promise<void> {
  const urlsOf = (...ports: number[]): string[] => ports.map((port) => `http://127.0.0.1:${port}`);
  const targets = { webs: [web.url, ...urlsOf(webPort)], workers: urlsOf(worker.port, killedPort) };
  const adapt = (text: string): string =>
    text.replaceAll('_interval: 15s', '_interval: 500ms').replace(/for: \d+[smh]$/gm, 'for: 1s');
  const server = await startPrometheus(home.path, { alertmanager: alertmanager.url, ...targets, adapt });
  prometheus = stack.use(server).url;
  await eventually('four processes answer scrapes', async () => {
    const up = await query('up{job="confere"} == 1');
    return up.length === 4;
  });
}

test('gauges of the database agree on two webs and two workers under load, and each panel has data', async () => {
  shop.behaviours['/refuses'] = () => 500;
  const since = { events_since: '2020-01-01T00:00:00Z' };
  for (const target of ['/accepts', '/refuses'])
    await web.api.call('POST', '/merchants', { name: 'Loja', url: `${shop.url}${target}`, ...since });
  const rows = Array.from({ length: PAYMENTS }, () => makeRow({ history: ['paid'] }));
  provider.add(...rows);
  const urls = [web.url, `http://127.0.0.1:${webPort}`];
  await Promise.all(rows.map(({ id }, index) => announce(urls[index % 2] ?? '', id)));
  for (const url of urls) await sendWebhook(url, { of: url });
  await eventually('the callbacks', () => shop.callsTo('/accepts').length >= 2 * PAYMENTS);
  if (!DEEP) await scrape();

  const series = await eventually('each gauge is the same on the four', async () => {
    const read = await query(`{__name__=~"${OF_DATABASE.join('|')}"}`);
    const callbacks = read.filter(
      ({ metric }) => metric.__name__ === 'confere_callbacks' && metric.state === 'pending',
    );
    const isNew = callbacks.length === 4 && callbacks.every(({ value }) => value[1] === `${2 * PAYMENTS}`);
    return isNew && listDifferences(read).length === 0 && read;
  });
  expect(new Set(series.map(({ metric }) => metric.__name__))).toEqual(new Set(OF_DATABASE));
  const quarantined = series.filter(({ metric }) => metric.state === 'quarantined');
  expect(quarantined.map(({ value }) => value[1])).toEqual(['2', '2', '2', '2']);

  const rules = await ask<{ groups: { rules: { health: string; name: string }[] }[] }>('/rules');
  const listed = rules.groups.flatMap((group) => group.rules);
  expect(listed.length).toBeGreaterThan(25);
  expect(listed.filter(({ health }) => health !== 'ok')).toEqual([]);
  // a rate needs two scrapes
  await eventually('each panel has data', async () => (await listPanelsWithoutData()).length === 0);
});

test('a worker that is a process is scraped without a fault that promtool finds', async () => {
  const input = await (await fetch(`http://127.0.0.1:${killedPort}/metrics`)).text();
  expect(input).toContain('confere_callbacks{state="pending"}');
  expect(execFileSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })).toBe('');
});

test('a killed worker is seen, and the other one takes over its work', async () => {
  const { db } = web.context;
  const taken = await eventually('the worker has leased an item that it can never finish', async () => {
    const row = makeRow({ history: ['paid'] });
    provider.add(row);
    const { fault } = provider.switches;
    provider.switches.fault = (seen) => (seen.path.endsWith(row.id) ? { hang: true } : fault(seen));
    await announce(web.url, row.id);
    const item = await eventually('a lease', () =>
      db
        .selectFrom('webhook_items')
        .select('lease_holder')
        .where('state', '=', 'pending')
        .where('lease_holder', 'is not', null)
        .where('transaction_id', '=', row.id)
        .executeTakeFirst(),
    );
    return item.lease_holder !== worker.context.holder && row.id;
  });
  killed.child.kill('SIGKILL');
  provider.switches.fault = () => undefined;
  // those that the other worker leased before would hold its places until they time out
  provider.cut();
  await eventually('Prometheus sees it', async () => {
    const [state] = await query('count_over_time(ALERTS{alertname="replica_silent",alertstate="pending"}[1m])');
    return state !== undefined;
  });
  const isTicket = (one: { alertname?: string; role?: string }): boolean =>
    one.alertname === 'replica_silent' && one.role === 'worker';
  await eventually('the ticket', () => listNotified('/tickets').some(isTicket));
  const ticket = listNotified('/tickets').find(isTicket);
  expect(ticket).toMatchObject({ severity: 'ticket' });
  expect(ticket).not.toHaveProperty('runbooks');
  let advancedMs = 0;
  await eventually('the other worker takes it', async () => {
    await web.timers.advance(1_000);
    advancedMs += 1_000;
    const item = await readRow(db, 'webhook_items', ['state', 'lease_holder'], { transaction_id: taken });
    return item.state !== 'pending' || item.lease_holder === worker.context.holder;
  });
  expect(advancedMs).toBeLessThan(60_000);
  // in small steps: a callback whose claim is 30 s old waits for its lease
  await eventually('its callback', async () => {
    await web.timers.advance(100);
    return shop.callsTo('/accepts').some(({ json }) => json.data.transaction.id === taken);
  });
});

test('without a worker, a web process sends worker_dead to Alertmanager in 3 minutes, which pages once for it', async () => {
  const { db } = web.context;
  await worker.stop();
  const { seen } = await db
    .selectFrom('heartbeats')
    .select((eb) => eb.fn.max('seen_at').as('seen'))
    .where('part', '=', 'alerts')
    .executeTakeFirstOrThrow();
  await eventually('the page', async () => {
    await web.timers.advance(10_000);
    // the loops of the web processes have had time to check
    for (let turn = 0; turn < 5; turn++) await db.selectFrom('settings').select('name').limit(1).execute();
    return listNotified('/pager').some((one) => one.alertname === 'worker_dead');
  });
  const page = listNotified('/pager').filter((one) => one.alertname === 'worker_dead');
  expect(page).toMatchObject([{ service: 'confere', severity: 'critical' }]);
  const { raised_at } = await readRow(db, 'alerts', ['raised_at'], { name: 'worker_dead' });
  expect(raised_at.getTime() - new Date(seen).getTime()).toBeLessThan(180_000);

  // the rule of Prometheus, which would fire 90 s later by its own clock
  await alertmanager.post([{ alertname: 'worker_dead', job: 'confere', severity: 'page' }]);
  const muted = await eventually('the rule is muted', async () => {
    const [alert] = await alertmanager.list('job=confere', 'alertname=worker_dead');
    return alert?.status.state === 'suppressed' && alert;
  });
  expect(muted.status.inhibitedBy).toHaveLength(1);
  expect(listNotified('/pager').filter((one) => one.alertname === 'worker_dead')).toHaveLength(1);
});

async function announce(url: string, id: string): Promise<void> {
  const body = { transaction_id: id, status: 'paid', transaction_amount: '10.00' };
  expect((await sendWebhook(url, body)).status).toBe(200);
}

/** The labels of each firing alert of each notification. */
function listNotified(path: string): Record<string, string>[] {
  return pager.posted
    .filter((one) => one.path === path)
    .flatMap(({ json }) => (json as Notified).alerts)
    .filter(({ status }) => status === 'firing')
    .map(({ labels }) => labels);
}

/** Series that not all four processes show, or with different values. */
function listDifferences(series: Series[]): string[] {
  const groups = Map.groupBy(series, ({ metric: { instance, role, ...metric } }) => JSON.stringify(metric));
  return [...groups].flatMap(([name, group]) => {
    const values = group.map(({ value }) => Number(value[1]));
    const spread = Math.max(...values) - Math.min(...values);
    return group.length === 4 && spread <= (name.includes('_seconds"') ? AGE_SECONDS_MAX : 0) ? [] : [name];
  });
}

/** Expressions of the dashboard without a result. Those with ` > 0` show faults, or what there is only later. */
async function listPanelsWithoutData(): Promise<string[]> {
  const { panels } = JSON.parse(read('ops/grafana/confere.json')) as { panels: { targets?: { expr: string }[] }[] };
  const all = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(all.length).toBeGreaterThan(60);
  const empty: string[] = [];
  for (const expr of all) {
    const result = await query(expr.replaceAll('$job', 'confere').replaceAll('$__rate_interval', '1m'));
    if (result.length === 0 && !expr.includes(' > 0')) empty.push(expr);
  }
  return empty;
}

async function query(expr: string): Promise<Series[]> {
  return (await ask<{ result: Series[] }>('/query', new URLSearchParams({ query: expr }))).result;
}

async function ask<T>(target: string, body?: URLSearchParams): Promise<T> {
  const answer = await fetch(`${prometheus}/api/v1${target}`, body ? { method: 'POST', body } : {});
  const { status, data, error } = (await answer.json()) as { status: string; data: T; error?: string };
  if (status !== 'success') throw new Error(`${target} ${body?.toString() ?? ''}: ${error}`);
  return data;
}
