import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import https from 'node:https';
import net, { type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type CallbackEnvironment, openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { openMerchantServer } from '../../support/open-merchant-server.ts';

/** A server that answers with bytes of its own, or not at all. */
async function openRawServer(answer: (socket: Socket) => void): Promise<{ url: string } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function readAttempt(env: CallbackEnvironment) {
  return env.context.db.selectFrom('callback_attempts').selectAll().executeTakeFirst();
}

async function firstAttempt(env: CallbackEnvironment) {
  return eventually('an attempt', () => readAttempt(env));
}

/** Sends something forever, until the other side has had enough. */
function pour(socket: Socket, chunk: string): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', more);
  more();
}

const CASES: Array<[string, (socket: Socket) => void, { status: number | null; errorClass: string | null }]> = [
  ['a connection that is cut', (s) => s.destroy(), { status: null, errorClass: 'connection_lost' }],
  ['no HTTP', (s) => s.end('SSH-2.0-OpenSSH\r\n'), { status: null, errorClass: 'bad_response' }],
  [
    'headers without end',
    (s) => {
      s.write('HTTP/1.1 200 OK\r\n');
      pour(s, `x-bomb: ${'a'.repeat(8000)}\r\n`);
    },
    { status: null, errorClass: 'headers_too_large' },
  ],
  [
    'a body without end behind an error',
    (s) => {
      s.write('HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n');
      pour(s, `1000\r\n${'b'.repeat(4096)}\r\n`);
    },
    { status: 500, errorClass: 'http_status' },
  ],
  [
    'a 200 whose body never ends',
    (s) => void s.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nok'),
    { status: 200, errorClass: null },
  ],
  [
    'a redirect',
    (s) => s.end('HTTP/1.1 308 Go\r\nlocation: http://127.0.0.1:1/\r\n\r\n'),
    { status: 308, errorClass: 'redirect' },
  ],
];

test.each(CASES)('%s is recorded for what it is, and no other merchant notices', async (_what, answer, expected) => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  await using bad = await openRawServer(answer);
  const { merchant } = await env.addMerchant(bad.url);
  await env.deliver();
  await env.applyTransaction(['paid']);
  const attempt = await env.advanceUntil('an attempt', () => readAttempt(env));
  expect({ status: attempt.response_status, errorClass: attempt.error_class }).toEqual(expected);
  expect(attempt.response_body?.length ?? 0).toBeLessThanOrEqual(4096);
  await env.addMerchant(`${shop.url}/well`);
  await env.applyTransaction(['paid']);
  await eventually('the other merchant', () => shop.acceptedCalls('/well').length === 1);
  expect(merchant.state).toBe('enabled');
});

test('an answer that does not come is given up after 15 s', async () => {
  await using env = await openCallbackEnvironment();
  const [asked, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using bad = await openRawServer((socket) => {
    socket.once('close', () => closed.resolve());
    asked.resolve();
  });
  await env.addMerchant(bad.url);
  await env.deliver();
  env.timers.freeze();
  await env.applyTransaction(['paid']);
  await asked.promise;
  await env.timers.advance(14_999);
  await env.timers.advance(1);
  await closed.promise;
  const attempt = await env.advanceUntil('its record', () => readAttempt(env));
  expect(attempt).toMatchObject({ response_status: null, error_class: 'timeout', duration_ms: 15_000 });
});

test('a certificate that nobody vouches for is refused', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'confere-tls-'));
  const [key, cert] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const make = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-keyout', key, '-out', cert];
  execFileSync('openssl', [...make, ...subject], { stdio: 'ignore' });
  const server = https.createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_request, response) => {
    response.end('taken');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await using env = await openCallbackEnvironment();
    await env.addMerchant(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await env.deliver();
    await env.applyTransaction(['paid']);
    expect(await firstAttempt(env)).toMatchObject({ response_status: null, error_class: 'tls' });
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  }
});

test.each(['127.0.0.1', 'localhost'])('without CALLBACK_ALLOW_PRIVATE nothing is sent to %s', async (host) => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  await env.addMerchant(shop.url.replace('127.0.0.1', host));
  await env.deliver({}, { CALLBACK_ALLOW_PRIVATE: 'false' });
  await env.applyTransaction(['paid']);
  expect(await firstAttempt(env)).toMatchObject({ response_status: null, error_class: 'forbidden_address' });
  expect(shop.calls).toHaveLength(0);
});

test('a name that does not exist and a port that nobody listens on have classes of their own', async () => {
  await using env = await openCallbackEnvironment();
  await env.addMerchant('https://no-such-host.invalid/');
  await env.addMerchant('http://127.0.0.1:1/');
  await env.deliver();
  await env.applyTransaction(['paid']);
  const attempts = await eventually('both', async () => {
    const rows = await env.context.db.selectFrom('callback_attempts').select('error_class').execute();
    return rows.length >= 2 ? rows : undefined;
  });
  expect(new Set(attempts.map((attempt) => attempt.error_class))).toEqual(new Set(['dns', 'connect']));
});
