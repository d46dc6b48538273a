import { readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createApi, findFreePort, type Program, startProgram } from '../../../demo/start-programs.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { eventually } from '../../support/eventually.ts';
import { makeRow } from '../../support/make-provider-rows.ts';
import { openMerchantServer } from '../../support/open-merchant-server.ts';
import { openTcpProxy } from '../../support/open-tcp-proxy.ts';
import { DEEP } from '../../support/property.ts';
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

/** A key that the provider refuses: a request of the web side would fail. */
const WEB_KEY = 'pk_of_the_web_side_alone';

/** A `serve` of one side, as a process. */
async function start(
  home: string,
  options: { side: 'web' | 'worker'; apiKey: string; databaseUrl: string; providerUrl: string },
) {
  const port = await findFreePort();
  const program = startProgram(home, options.side, ['serve', `--${options.side}`], {
    ...{ DATABASE_URL: options.databaseUrl, SECRET_KEY, DATA_DIR: home, PORT: String(port), ...NO_RUNS },
    ...{ PROVIDER_URL: options.providerUrl, PROVIDER_API_KEY: options.apiKey, ADMIN_TOKEN, WEBHOOK_SECRET },
    CALLBACK_ALLOW_PRIVATE: 'true',
  });
  return { ...program, url: `http://127.0.0.1:${port}` };
}

/** The status of an answer; undefined without one. */
function ask(url: string, init?: RequestInit): Promise<number | undefined> {
  return fetch(url, init).then(
    (answer) => answer.status,
    () => undefined,
  );
}

function endOf({ child }: Program): Promise<number | null> {
  return new Promise((resolve) => child.once('exit', resolve));
}

test('serve --web receives a webhook, serve --worker verifies it and delivers the callback, and SIGTERM ends both with 0', async () => {
  using home = temporaryDirectory();
  await using provider = await new TestProvider(API_KEY).listen();
  await using shop = await openMerchantServer();
  const row = makeRow({ history: ['paid'] });
  provider.add(row);
  const both = { databaseUrl: urlOf(await createTestDatabase()), providerUrl: provider.url };
  await using web = await start(home.path, { ...both, side: 'web', apiKey: WEB_KEY });
  await using worker = await start(home.path, { ...both, side: 'worker', apiKey: API_KEY });
  await eventually('the web side is up', async () => (await ask(`${web.url}/healthz`)) === 200);
  const api = createApi(web.url, '/api/v1', ADMIN_TOKEN);
  const since = { events_since: '2020-01-01T00:00:00Z' };
  await api.call('POST', '/merchants', { name: 'Loja', url: `${shop.url}/all`, ...since });
  const answer = await sendWebhook(web.url, { transaction_id: row.id, status: 'paid', transaction_amount: '10.00' });
  expect(answer).toMatchObject({ status: 200, json: { received: true } });

  await eventually('the callbacks are delivered', () => shop.callsTo('/all').length >= 2);
  expect(shop.callsTo('/all').map((one) => one.json.type)).toEqual(['pix.cashin.pending', 'pix.cashin.paid']);
  expect(shop.callsTo('/all').map((one) => one.json.data.source)).toEqual(['webhook', 'webhook']);
  expect(await api.call('GET', `/transactions/${row.id}`)).toMatchObject({ status: 'paid' });
  const askers = new Set(provider.requests.map((seen) => seen.headers.authorization));
  expect(askers, 'the worker alone asks the provider').toEqual(new Set([`Bearer ${API_KEY}`]));
  expect(await ask(`${worker.url}/webhooks/pix`, { method: 'POST', body: '{}' }), 'takes no webhook').toBe(404);
  for (const { url } of [web, worker]) {
    expect(await ask(`${url}/healthz`)).toBe(200);
    expect(await ask(`${url}/readyz`)).toBe(200);
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/^confere_callbacks\{state="failed"\} 0$/m);
  }

  const ended = [endOf(web), endOf(worker)];
  for (const { child } of [web, worker]) child.kill('SIGTERM');
  expect(await Promise.all(ended)).toEqual([0, 0]);
});

test('serve --worker is alive and not ready before its database is there, and works once it is', async () => {
  using home = temporaryDirectory();
  const database = await createTestDatabase();
  const socketPath = path.join(home.path, 'late.sock');
  const databaseUrl = urlOf({ ...database, socketPath });
  await using worker = await start(home.path, {
    ...{ side: 'worker', apiKey: API_KEY, databaseUrl, providerUrl: 'http://127.0.0.1:1' },
  });
  await eventually('it is alive', async () => (await ask(`${worker.url}/healthz`)) === 200);
  expect(await ask(`${worker.url}/readyz`)).toBe(503);
  expect(await (await fetch(`${worker.url}/metrics`)).text()).toContain('confere_build_info');
  expect(await ask(`${worker.url}/`)).toBe(404);

  symlinkSync(database.socketPath, socketPath);
  await eventually('it is ready', async () => (await ask(`${worker.url}/readyz`)) === 200);
  const ended = endOf(worker);
  worker.child.kill('SIGTERM');
  expect(await ended).toBe(0);
});

// it takes 18 s
test.runIf(DEEP)('SIGTERM ends serve with 1 where the database has stopped answering', async () => {
  using home = temporaryDirectory();
  const database = await createTestDatabase();
  using proxy = await openTcpProxy(database.socketPath);
  const databaseUrl = `mysql://root@127.0.0.1:${proxy.port}/${database.database}`;
  await using worker = await start(home.path, {
    ...{ side: 'worker', apiKey: API_KEY, databaseUrl, providerUrl: 'http://127.0.0.1:1' },
  });
  await eventually('it is ready', async () => (await ask(`${worker.url}/readyz`)) === 200);
  proxy.freeze();
  const ended = endOf(worker);
  worker.child.kill('SIGTERM');
  expect(await ended).toBe(1);
  expect(readFileSync(worker.logFile, 'utf8')).toContain('shutdown did not finish in time');
});
