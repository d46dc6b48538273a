import { PassThrough } from 'node:stream';
import { request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ListeningServer, listenHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { eventually } from '../../support/eventually.ts';
import { openEnvironment, TEST_HTTP_LIMITS, type TestEnvironment } from '../../support/open-environment.ts';
import { WEBHOOK_SECRET } from '../../support/start-serve.ts';

const UUID = /^[0-9a-f-]{36}$/;
const lines: string[] = [];
let environment: TestEnvironment;
let server: ListeningServer;

beforeAll(async () => {
  const output = new PassThrough();
  output.on('data', (line: Buffer) => lines.push(line.toString()));
  environment = await openEnvironment({ LOG_LEVEL: 'debug' }, undefined, output);
  server = await listenHttp(environment.context.config, createApp(environment.context), TEST_HTTP_LIMITS);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await environment[Symbol.asyncDispose]();
});

async function idOf(
  path: string,
  id: string | undefined,
  init: { method: 'GET' | 'POST'; body?: string } = { method: 'GET' },
) {
  const headers = { authorization: `Bearer ${WEBHOOK_SECRET}`, ...(id === undefined ? {} : { 'x-request-id': id }) };
  const answer = await request(`http://127.0.0.1:${server.port}${path}`, { ...init, headers });
  await answer.body.dump();
  return answer.headers['x-request-id'];
}

it.each(['/healthz', '/metrics', '/nothing', '/api/v1/transactions', '/login', '/assets/console.css'])(
  'GET %s echoes a request id, and makes one where there is none',
  async (path) => {
    const id = 'Root=1-67891233/abc.def:9_+';
    expect(await idOf(path, id)).toBe(id);
    expect(await idOf(path, undefined)).toMatch(UUID);
  },
);

it.each([
  '',
  'x'.repeat(129),
  'two words',
  'maria@example.com',
  '52998224725',
  'cpf52998224725',
  'a"b',
  'ação'.normalize(),
])('a request id that is no id (%j) is replaced', async (id) => {
  expect(await idOf('/healthz', id)).toMatch(UUID);
});

it('is on the log lines of its own request alone, also where requests share a commit', async () => {
  const send = (id: string) => idOf('/webhooks/pix', id, { method: 'POST', body: `{"transaction_id":"${id}"}` });
  expect(await Promise.all(['req-a', 'req-b', 'req-c'].map(send))).toEqual(['req-a', 'req-b', 'req-c']);
  const received = await eventually('the lines are there', () => {
    const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const some = parsed.filter((line) => line.stage === 'received');
    return some.length === 3 && some;
  });
  expect(new Set(received.map((line) => line.request_id))).toEqual(new Set(['req-a', 'req-b', 'req-c']));
  expect(new Set(received.map((line) => line.webhook)).size).toBe(3);
});
