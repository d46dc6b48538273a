import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import http from 'node:http';
import { afterAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import type { Context } from '../../../src/context.ts';
import { listenHttp, serveHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { createSpoolApp } from '../../../src/http/receiver/create-spool-app.ts';
import { writeSpooled } from '../../../src/inbox/receive/write-spooled.ts';
import { openSpool } from '../../../src/inbox/spool/spool.ts';
import { createLog } from '../../../src/log.ts';
import { openTestContext } from '../../support/open-environment.ts';
import { SECRET_KEY, temporaryDirectory, WEBHOOK_SECRET } from '../../support/start-serve.ts';

/** Posts a body from this machine through proxies that add X-Forwarded-For. */
function post(port: number, forwardedFor?: string, body: object = { transaction_id: randomUUID() }) {
  // as bytes: with a text after them the headers would go out in UTF-8
  const bytes = Buffer.from(JSON.stringify(body));
  const headers = {
    authorization: `Bearer ${WEBHOOK_SECRET}`,
    ...(forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }),
  };
  return new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const request = http.request(
      { agent: false, host: '127.0.0.1', port, method: 'POST', path: '/webhooks/pix', headers },
      (response) => {
        let answer = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          answer += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode, text: answer }));
      },
    );
    request.on('error', reject).end(bytes);
  });
}

/** The stored addresses in the order of arrival: of first webhooks, and of repeats. */
async function readKept({ db }: Context): Promise<string[][]> {
  const read = async (table: 'webhooks' | 'webhook_repeats') =>
    (await db.selectFrom(table).select('source_address').orderBy('seq').execute()).map((row) => row.source_address);
  return [await read('webhooks'), await read('webhook_repeats')];
}

/** More than the column takes, in characters or only in bytes; the last ends in the middle of a character. */
const LONG = ['a'.repeat(100), 'é'.repeat(64), `${'b'.repeat(63)}é`];
const CUT = ['a'.repeat(64), 'é'.repeat(32), 'b'.repeat(63)];

test('an address that a proxy made up is cut to what fits, and its webhook is taken, repeats too', async () => {
  await using context = await openTestContext({ TRUST_PROXY: '1' });
  await using server = await serveHttp(context, createApp(context));
  for (const address of LONG) {
    const body = { transaction_id: randomUUID() };
    const answers = [await post(server.port, address, body), await post(server.port, address, body)];
    expect(answers.map(({ text }) => JSON.parse(text))).toMatchObject([{ duplicate: false }, { duplicate: true }]);
  }
  expect(await readKept(context)).toEqual([CUT, CUT]);
});

test('it is cut before it goes to the spool', async () => {
  using home = temporaryDirectory();
  await using context = await openTestContext({ TRUST_PROXY: '1' });
  await using spool = openSpool(home.path);
  await using server = await serveHttp(context, createSpoolApp(context.config, context.log, spool, context.signal));
  for (const address of LONG) expect((await post(server.port, address)).status).toBe(200);
  const [name = ''] = readdirSync(home.path);
  const records = spool.readSegment(name)?.records ?? [];
  expect(await writeSpooled(context, records)).toEqual([]);
  expect(await readKept(context)).toEqual([CUT, []]);
});

describe('WEBHOOK_ALLOW', () => {
  const home = temporaryDirectory();
  const spool = openSpool(home.path);
  afterAll(async () => {
    await spool[Symbol.asyncDispose]();
    home[Symbol.dispose]();
  });
  const PROVIDER = '203.0.113.0/24';

  test.each([
    ['by way of a proxy that is trusted', PROVIDER, '1', '203.0.113.7', 200],
    ['by way of one that is trusted by its address', PROVIDER, '127.0.0.0/8', '203.0.113.7', 200],
    ['by way of two', PROVIDER, '2', '203.0.113.7, 198.51.100.1', 200],
    ['from elsewhere by way of a proxy', PROVIDER, '1', '198.51.100.1', 403],
    ['from elsewhere, with what it says of itself before the proxy', PROVIDER, '1', '203.0.113.7, 198.51.100.1', 403],
    ['from what is no address', PROVIDER, '1', 'unknown', 403],
    ['with a header that nobody is trusted to write', PROVIDER, undefined, '203.0.113.7', 403],
    ['with a header from a proxy that is not trusted', PROVIDER, '10.0.0.0/8', '203.0.113.7', 403],
    ['from a mapped address by way of a proxy', PROVIDER, '1', '::ffff:203.0.113.7', 200],
    ['from a mapped peer', '127.0.0.1', undefined, undefined, 200],
    ['from a mapped peer, beside other blocks', `2001:db8::/32,${PROVIDER},127.0.0.0/8`, undefined, undefined, 200],
    ['within a mapped block', '::ffff:203.0.113.0/120', '1', '203.0.113.7', 200],
    ['within a mapped block in hex', '::ffff:cb00:7100/120', '1', '203.0.113.7', 200],
    ['outside a mapped block', '::ffff:203.0.113.0/120', '1', '203.0.114.7', 403],
    ['at a mapped address', '::ffff:127.0.0.1', undefined, undefined, 200],
    ['of IPv6, within its block', '2001:db8::/32', '1', '2001:db8:7::1', 200],
    ['of IPv6, outside its block', '2001:db8::/32', '1', '2001:db9::1', 403],
    ['of IPv4 within all of IPv6', '::/0', '1', '203.0.113.7', 403],
  ])('%s', async (_, allow, proxy, forwardedFor, status) => {
    // listens on both families, so that an IPv4 peer has a mapped address
    const env = { ...{ HOST: '::', PORT: '0', WEBHOOK_SECRET, SECRET_KEY }, WEBHOOK_ALLOW: allow };
    const config = readConfig(proxy === undefined ? env : { ...env, TRUST_PROXY: proxy });
    const log = createLog('silent', process.stderr);
    const app = createSpoolApp(config, log, spool, new AbortController().signal);
    await using server = await listenHttp(config, app);
    expect((await post(server.port, forwardedFor)).status).toBe(status);
  });

  test('a mapped block that reaches beyond IPv4 is refused', () => {
    expect(() => readConfig({ WEBHOOK_SECRET, WEBHOOK_ALLOW: '::ffff:10.0.0.0/64' })).toThrow(/WEBHOOK_ALLOW/);
  });
});
