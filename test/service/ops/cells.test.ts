import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findFreePort } from '../../../demo/start-programs.ts';
import { findBinary } from '../../../embedded/find-server.ts';
import { eventually } from '../../support/eventually.ts';
import { dayAgo, makeDay, PLATFORM } from '../../support/make-provider-rows.ts';
import { openServedEnvironment, type ServedEnvironment } from '../../support/open-served-environment.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { API_KEY, temporaryDirectory, WEBHOOK_SECRET } from '../../support/start-serve.ts';
import { TestProvider } from '../../support/test-provider.ts';

const SAMPLE = path.resolve(import.meta.dirname, '../../../deploy/nginx/cells.conf');
const DAY = dayAgo(3);
const PLATFORMS = { shops: PLATFORM, fairs: '7f9619ff-8b86-4d01-b42d-00cf4fc964ff' };
/** The ports of the sample. */
const PORTS = { shops: 3000, fairs: 3010 };

type Name = keyof typeof PLATFORMS;
type Cell = ServedEnvironment & { row: { id: string } };
const stack = new AsyncDisposableStack();
const home = stack.use(temporaryDirectory());

async function openCell(name: Name): Promise<Cell> {
  const provider = stack.use(await new TestProvider(API_KEY).listen());
  const [row] = makeDay(DAY, 1, { history: ['paid'], platform: PLATFORMS[name] });
  if (!row) throw new Error('no row');
  provider.add(row);
  const env = { PUBLIC_URL: `https://${name}.pix.example.com`, TRUST_PROXY: '127.0.0.1/32' };
  const served = stack.use(await openServedEnvironment({ providerUrl: provider.url, env }));
  return { ...served, row };
}

/** Starts nginx with the sample, without TLS. */
async function startProxy(cells: Record<Name, Cell>): Promise<string> {
  const port = await findFreePort();
  let sample = readFileSync(SAMPLE, 'utf8').replaceAll('listen 443 ssl;', `listen 127.0.0.1:${port};`);
  sample = sample.replaceAll(/^ *ssl_certificate.*\n/gm, '');
  for (const name of ['shops', 'fairs'] as const)
    sample = sample.replaceAll(`http://127.0.0.1:${PORTS[name]}`, cells[name].url);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((one) => `${one}_temp_path ${home.path};`);
  const file = path.join(home.path, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; pid ${home.path}/pid; error_log ${home.path}/error.log; events {}
    http { access_log off; ${temporary.join(' ')} ${sample} }`,
  );
  const nginx = spawn('nginx', ['-c', file, '-p', home.path], { stdio: 'ignore' });
  stack.defer(async () => {
    nginx.kill();
    await once(nginx, 'exit');
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually('nginx', () => request(url).then(Boolean, () => false));
  return url;
}

let cells: Record<Name, Cell>;
beforeAll(async () => {
  cells = { shops: await openCell('shops'), fairs: await openCell('fairs') };
});
afterAll(() => stack.disposeAsync());

test.skipIf(!findBinary('nginx'))('two cells take webhooks behind one address, and each has its console', async () => {
  const url = await startProxy(cells);
  const call = async (host: string, target: string, body?: object) => {
    const headers = { host, authorization: `Bearer ${WEBHOOK_SECRET}`, 'content-type': 'application/json' };
    const posted = body ? { method: 'POST' as const, body: JSON.stringify(body) } : {};
    const { statusCode, body: text } = await request(url + target, { headers, ...posted });
    return [statusCode, await text.text()] as const;
  };
  for (const [name, { row, api }] of Object.entries(cells)) {
    const body = { transaction_id: row.id, status: 'paid' };
    expect((await call('pix.example.com', `/${name}/webhooks/pix`, body))[0]).toBe(200);
    await eventually('it is booked', () => api.call('GET', `/transactions/${row.id}`).then(Boolean, () => false));
    const [status, page] = await call(`${name}.pix.example.com`, '/login');
    expect([status, page.includes('Confere')]).toEqual([200, true]);
  }
  expect((await call('pix.example.com', '/webhooks/pix', {}))[0]).toBe(404);
  // each has its own payment alone
  const { transactions } = await cells.shops.api.call<{ transactions: { id: string }[] }>('GET', '/transactions');
  expect(transactions.map(({ id }) => id)).toEqual([cells.shops.row.id]);
});

test('the files of two cells are added by one command, which refuses rows that would be counted twice', async () => {
  const days = ['--from', DAY, '--to', DAY, '--format', 'csv'];
  const run = (name: Name, ...args: string[]) => runCommandInProcess(['export', ...args], cells[name].env);
  const [other, both, more] = ['fairs.csv', 'both.csv', 'more.csv'].map((file) => path.join(home.path, file));
  for (const { api, row } of Object.values(cells)) {
    const { id } = await api.call<{ id: string }>('POST', '/reconciliations', { from: DAY, to: DAY });
    await eventually(
      'the run',
      async () => (await api.call<{ state: string }>('GET', `/reconciliations/${id}`)).state === 'complete',
    );
    await eventually('it is booked', () => api.call('GET', `/transactions/${row.id}`).then(Boolean, () => false));
  }
  const written = { code: 0, err: `not closed, so that its figures can change: ${DAY.slice(0, 7)}\n` };
  expect(await run('fairs', ...days, '--out', `${other}`)).toMatchObject(written);
  expect(await run('shops', ...days, '--out', `${both}`, '--add', `${other}`)).toMatchObject(written);
  const text = readFileSync(`${both}`, 'utf8');
  const [header = '', ...rows] = text.trimEnd().split('\r\n');
  expect(rows.map((line) => Object.values(cells).findIndex(({ row }) => line.includes(row.id)))).toEqual([0, 1]);
  expect(header.startsWith('\uFEFF')).toBe(true);
  expect(text.lastIndexOf('\uFEFF')).toBe(0);

  const refused = async (...args: string[]) => (await run('shops', '--out', `${more}`, ...args)).err;
  expect(await refused(...days, '--add', `${both}`)).toContain(`has rows of its platform ${PLATFORM} too`);
  const before = ['--from', dayAgo(9), '--to', dayAgo(8), '--format', 'csv'];
  expect(await refused(...before, '--add', `${other}`)).toContain(`it has a row of ${DAY}, outside of the range`);
  expect(await refused(...days, '--locale', 'en', '--add', `${other}`)).toContain('its columns are others');
  expect(await refused(...days, '--add', '/nowhere.csv')).toContain('/nowhere.csv');
  expect(await refused('--day', DAY, '--add', `${other}`)).toContain('--add goes with');
  expect(existsSync(`${more}`)).toBe(false);
});
