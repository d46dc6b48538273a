/**
 * Webhooks at a plain path are answered without Express, others through it (route-webhooks.ts). The same request to both must
 * get the same bytes, but for the date.
 */
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { type HttpServer, serveHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import type { Receiver } from '../../../src/inbox/receive/receive.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openEnvironment, openTestContext, TEST_HTTP_LIMITS } from '../../support/open-environment.ts';
import { WEBHOOK_SECRET } from '../../support/start-serve.ts';

const NEW = '{"transaction_id":"<new>"}';
const REPEATED = JSON.stringify({ transaction_id: randomUUID() });
const PROVIDER = '203.0.113.7';

type Sent = { method?: string; path?: string; headers?: Record<string, string>; body?: string };

/** The answer to one request, the last on its connection; without the date, and the ids of new webhooks. */
async function ask(port: number, { method = 'POST', path = '/webhooks/pix', headers = {}, body = NEW }: Sent) {
  const sent = body.replace('<new>', randomUUID());
  const length = headers['transfer-encoding'] ? {} : { 'content-length': String(Buffer.byteLength(sent)) };
  const all = {
    host: 'a',
    connection: 'close',
    authorization: `Bearer ${WEBHOOK_SECRET}`,
    'x-request-id': 'raw',
    ...length,
  };
  const lines = Object.entries({ ...all, 'x-forwarded-for': PROVIDER, ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const socket = connect(port, '127.0.0.1');
  socket.write([`${method} ${path} HTTP/1.1`, ...lines, '', sent].join('\r\n'));
  const answer = (await text(socket)).replace(/\r\nDate: [^\r]*/, '');
  return body === NEW ? answer.replace(/wh_[0-9a-f]{32}/, 'wh_') : answer;
}

async function serve(context: Context, receive?: Receiver) {
  return await serveHttp(context, createApp(context, undefined, receive), TEST_HTTP_LIMITS);
}

const statusOf = (answer: string): string => answer.slice('HTTP/1.1 '.length).slice(0, 3);
const encodeWhole = (text: string): string => text.replace(/./g, (c) => `%${c.charCodeAt(0).toString(16)}`);

const ANSWER = [
  'HTTP/1.1 200 OK',
  'x-request-id: raw',
  'Content-Type: application/json; charset=utf-8',
  'Content-Length: 78',
  'Connection: close',
  '',
  '{"received":true,"id":"wh_","duplicate":false}',
];

it('a webhook gets the same bytes with and without Express', async () => {
  await using context = await openTestContext({ TRUST_PROXY: '1', WEBHOOK_ALLOW: '203.0.113.0/24' });
  await using server = await serve(context);
  await ask(server.port, { body: REPEATED });
  const refused = { authorization: 'Bearer no' };
  const cases: [string, Sent][] = [
    ['200', {}],
    ['200', { body: REPEATED }],
    ['100', { headers: { expect: '100-continue' } }],
    ['400', { body: '' }],
    ['400', { body: 'not json' }],
    ['401', { headers: refused }],
    ['401', { headers: { ...refused, expect: '100-continue' } }],
    ['401', { headers: { ...refused, 'transfer-encoding': 'chunked' }, body: '0\r\n\r\n' }],
    ['403', { headers: { 'x-forwarded-for': '198.51.100.1' } }],
    ['403', { headers: { 'x-forwarded-for': `${PROVIDER}, 198.51.100.1` } }],
    ['413', { body: 'x'.repeat(256 * 1024 + 1) }],
    ['415', { headers: { 'content-encoding': 'gzip' } }],
  ];
  for (const [status, sent] of cases) {
    const plain = await ask(server.port, sent);
    expect([statusOf(plain), plain]).toEqual([status, await ask(server.port, { ...sent, path: '/webhooks/pix?' })]);
  }
  expect((await ask(server.port, {})).split('\r\n')).toEqual(ANSWER);
});

it('a webhook that can not be stored gets the same bytes with and without Express', async () => {
  await using context = await openTestContext();
  await using server = await serve(context, () => Promise.reject(new Error('no space')));
  const [plain, routed] = [await ask(server.port, {}), await ask(server.port, { path: '/webhooks/pix/' })];
  expect([statusOf(plain), plain]).toEqual(['503', routed]);
});

it('an unexpected error is answered 500 and logged with its route, with and without Express', async () => {
  const lines: string[] = [];
  const output = new PassThrough();
  output.on('data', (line: Buffer) => lines.push(line.toString()));
  await using environment = await openEnvironment({ LOG_LEVEL: 'error' }, undefined, output);
  let thrown = 0;
  const now = (): Date => {
    // a cause of its own each time: the log has one line a minute for each
    throw Object.assign(new Error('no time'), { code: `E${thrown++}` });
  };
  const { context } = environment;
  await using server = await serve(
    { ...context, clock: { ...context.clock, now } },
    async () => await Promise.reject(),
  );
  for (const [path, route] of [
    ['/webhooks/pix', '/webhooks/pix'],
    ['/webhooks/pix/secret', '/webhooks/pix/:token'],
  ] as const) {
    const [plain, routed] = [await ask(server.port, { path }), await ask(server.port, { path: `${path}?` })];
    expect([statusOf(plain), plain]).toEqual(['500', routed]);
    const logged = lines.splice(0).map((line) => JSON.parse(line) as object);
    expect(logged).toMatchObject(new Array(2).fill({ method: 'POST', route, msg: 'a request failed' }));
    expect(JSON.stringify(logged)).not.toContain('secret');
  }
});

const opened = closeAfterAll(await openTestContext({ WEBHOOK_AUTH: 'path' }));
let byPath: HttpServer;
beforeAll(async () => {
  byPath = await serve(opened);
});
afterAll(() => byPath[Symbol.asyncDispose]());

it.each([
  ['POST', '/webhooks/pix/<token>', '200'],
  ['POST', '/webhooks/pix/<token>/', '200'],
  ['POST', '/webhooks/pix/<token>?attempt=2', '200'],
  ['POST', '/webhooks/pix/<encoded>', '200'],
  ['POST', 'http://a/webhooks/pix/<token>', '200'],
  ['POST', '/webhooks/pix', '401'],
  ['POST', '/webhooks/pix/', '401'],
  ['POST', '/webhooks/pix/..', '401'],
  ['POST', '/webhooks/pix/%zz', '400'],
  ['POST', '/webhooks/pix/<token>/more', '404'],
  ['POST', '/webhooks/PIX/<token>', '404'],
  ['POST', '//webhooks/pix/<token>', '404'],
  ['GET', '/webhooks/pix/<token>', '404'],
  ['HEAD', '/webhooks/pix/<token>', '404'],
  ['OPTIONS', '/webhooks/pix/<token>', '200'],
])('%s %s is answered %s', async (method, path, status) => {
  const filled = path.replace('<token>', WEBHOOK_SECRET).replace('<encoded>', encodeWhole(WEBHOOK_SECRET));
  expect(statusOf(await ask(byPath.port, { method, path: filled }))).toBe(status);
});
