import { createHmac, randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpLimits, type HttpServer, serveHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { BODIES_PER_SOURCE_MAX } from '../../../src/http/receiver/read-body.ts';
import { routeWebhooks } from '../../../src/http/receiver/route-webhooks.ts';
import { createReceiver } from '../../../src/inbox/receive/receive.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { eventually } from '../../support/eventually.ts';
import { openTestContext } from '../../support/open-environment.ts';
import { WEBHOOK_SECRET } from '../../support/start-serve.ts';

/** Long time-outs: a connection that ends within a test was not timed out. */
const LIMITS: HttpLimits = {
  headersTimeoutMs: 600_000,
  requestTimeoutMs: 600_000,
  checkEveryMs: 50,
  keepAliveMs: 600_000,
  connectionsMax: 20,
  connectionsPerSourceMax: 20,
  connectionsPerSiteMax: 20,
  unauthenticatedIdleMs: 600_000,
  stalledMs: 1_000,
  unreadMs: 10_000,
  pipelinedMax: 16,
  lingerMs: 100,
  drainMs: 600_000,
};
/** Closes slow requests soon. */
const HASTY: HttpLimits = { ...LIMITS, headersTimeoutMs: 150, requestTimeoutMs: 300 };
const DISCARD_MS = 100;

const context = closeAfterAll(await openTestContext());
let server: HttpServer;
let hasty: HttpServer;

beforeAll(async () => {
  server = await serveHttp(context, createApp(context), LIMITS);
  hasty = await serveHttp(context, createApp(context), HASTY);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await hasty[Symbol.asyncDispose]();
});

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

type Raw = { socket: Socket; text: () => string; closed: Promise<void>; until: (pattern: RegExp) => Promise<void> };

/** A bare connection, with the bytes that it received. */
async function dial(port: number): Promise<Raw> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await new Promise<void>((resolve) => {
    socket.once('connect', resolve);
    socket.once('close', () => resolve());
  });
  const until = async (pattern: RegExp): Promise<void> => {
    await eventually(String(pattern), () => {
      if (pattern.test(text)) return true;
      if (socket.destroyed) throw new Error(`closed before ${pattern}: ${text}`);
      return false;
    });
  };
  return { socket, text: () => text, closed, until };
}

function post(body: string, headers: Record<string, string> = {}): string {
  const all: Record<string, string> = {
    host: 'receiver',
    authorization: `Bearer ${WEBHOOK_SECRET}`,
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /webhooks/pix HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

const genuine = (): string => JSON.stringify({ transaction_id: randomUUID(), status: 'paid' });
const statuses = (text: string): string[] => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => match[1] ?? '');

async function countStored(): Promise<number> {
  const rows = await context.db.selectFrom('webhooks').select('seq').execute();
  return rows.length;
}

describe('a connection', () => {
  it('carries one request after another', async () => {
    const raw = await dial(server.port);
    for (let n = 1; n <= 3; n++) {
      raw.socket.write(post(genuine()));
      await raw.until(new RegExp(`(?:"received":true[\\s\\S]*){${n}}`));
    }
    expect(statuses(raw.text())).toEqual(['200', '200', '200']);
    raw.socket.destroy();
  });

  it('may pipeline: every request is answered, in order', async () => {
    const raw = await dial(server.port);
    raw.socket.write(
      [post(genuine()), post('not json'), post(genuine(), { authorization: 'Bearer no' }), post(genuine())].join(''),
    );
    await raw.until(/(?:HTTP\/1\.1 \d{3}[\s\S]*){4}/);
    expect(statuses(raw.text())).toEqual(['200', '400', '401', '200']);
    raw.socket.destroy();
  });

  it('may send a body byte by byte, in chunks, or after 100-continue', async () => {
    const slow = await dial(server.port);
    for (const byte of post(genuine())) slow.socket.write(byte);
    const chunked = await dial(server.port);
    const body = genuine();
    const head = post('', { 'transfer-encoding': 'chunked' }).replace(/content-length: 0\r\n/, '');
    chunked.socket.write(`${head}5\r\n${body.slice(0, 5)}\r\n`);
    chunked.socket.write(`${(body.length - 5).toString(16)}\r\n${body.slice(5)}\r\n0\r\n\r\n`);
    const expecting = await dial(server.port);
    const [headers, rest] = post(genuine(), { expect: '100-continue' }).split('\r\n\r\n');
    expecting.socket.write(`${headers}\r\n\r\n`);
    await expecting.until(/100 Continue/);
    expecting.socket.write(rest ?? '');
    for (const raw of [slow, chunked, expecting]) {
      await raw.until(/"received":true/);
      raw.socket.destroy();
    }
  });
});

describe('an unauthenticated sender that is slow', () => {
  it.each([
    ['sends nothing at all', ''],
    ['stops within the headers', 'POST /webhooks/pix HTTP/1.1\r\nhost: a\r\nx-a'],
    ['stops within the body', post(genuine(), { 'content-length': '5000' })],
  ])('is disconnected when it %s', async (_, start) => {
    const before = await countStored();
    const raw = await dial(hasty.port);
    raw.socket.write(start);
    await raw.closed;
    expect(['', '408']).toContain(statuses(raw.text()).join());
    expect(await countStored()).toBe(before);
  });

  it('is disconnected when it drips, while others are served', async () => {
    const raw = await dial(hasty.port);
    raw.socket.write('POST /webhooks/pix HTTP/1.1\r\nhost: a\r\n');
    const drip = setInterval(() => raw.socket.write('x: y\r\n'), 20);
    const other = await dial(hasty.port);
    other.socket.write(post(genuine()));
    await other.until(/"received":true/);
    other.socket.destroy();
    await raw.closed;
    clearInterval(drip);
    expect(statuses(raw.text())).not.toContain('200');
  });

  it('can open connections up to connectionsMax: open ones stay usable', async () => {
    const raws = await Promise.all(Array.from({ length: LIMITS.connectionsMax }, () => dial(server.port)));
    const ask = async (raw: Raw, times: number): Promise<void> => {
      raw.socket.write(post(genuine()));
      await raw.until(new RegExp(`(?:"received":true[\\s\\S]*){${times}}`));
    };
    for (const raw of raws) await ask(raw, 1);
    const more = await Promise.all(Array.from({ length: 10 }, () => dial(server.port)));
    await Promise.all(more.map((raw) => raw.closed));
    expect(more.map((raw) => raw.text()).join('')).toBe('');
    for (const raw of raws) {
      await ask(raw, 2);
      raw.socket.destroy();
    }
    await Promise.all(raws.map((raw) => raw.closed));
    await eventually(async () => {
      const raw = await dial(server.port);
      raw.socket.write(post(genuine()));
      const answered = await raw.until(/"received":true/).then(
        () => true,
        () => false,
      );
      raw.socket.destroy();
      return answered;
    });
  });
});

describe('an unauthenticated connection', () => {
  const strict: HttpLimits = { ...LIMITS, headersTimeoutMs: 60_000, requestTimeoutMs: 60_000, keepAliveMs: 60_000 };
  const get = (target: string): string => `GET ${target} HTTP/1.1\r\nhost: a\r\n\r\n`;

  it('may idle for a short time; an authenticated one longer', async () => {
    await using own = await serveHttp(context, createApp(context), { ...strict, unauthenticatedIdleMs: 300 });
    const [silent, dripping, asked, known] = await Promise.all([0, 0, 0, 0].map(() => dial(own.port)));
    dripping?.socket.write('GET /healthz HTTP/1.1\r\nhost: a\r\nx-a');
    asked?.socket.write(get('/healthz'));
    known?.socket.write(post(genuine()));
    await known?.until(/"received":true/);
    await asked?.until(/"alive":true/);
    await Promise.all([silent?.closed, dripping?.closed, asked?.closed]);
    known?.socket.write(post(genuine()));
    await known?.until(/(?:"received":true[\s\S]*){2}/);
    known?.socket.destroy();
  });

  it('is replaced by a new one of its address beyond the limit; an authenticated one is not', async () => {
    await using own = await serveHttp(context, createApp(context), {
      ...strict,
      connectionsPerSourceMax: 3,
      unauthenticatedIdleMs: 60_000,
    });
    const [first, second, known] = [await dial(own.port), await dial(own.port), await dial(own.port)];
    known.socket.write(post(genuine()));
    await known.until(/"received":true/);
    const more = await dial(own.port);
    await first.closed;
    const another = await dial(own.port);
    await second.closed;
    for (const raw of [known, more, another]) {
      raw.socket.write(post(genuine()));
      await raw.until(/"received":true/);
    }
    const refused = await dial(own.port);
    await refused.closed;
    expect([known, more, another].map((raw) => raw.socket.destroyed)).toEqual([false, false, false]);
    for (const raw of [known, more, another]) raw.socket.destroy();
  });

  it('has its shorter time in Keep-Alive; an authenticated one has keepAliveMs, and a last response has none', async () => {
    const limits = { ...strict, keepAliveMs: 65_000, unauthenticatedIdleMs: 5_900 };
    await using own = await serveHttp(context, createApp(context), limits);
    const times = async (...requests: string[]): Promise<string[]> => {
      const raw = await dial(own.port);
      for (const [index, request] of requests.entries()) {
        raw.socket.write(request);
        await raw.until(new RegExp(`(?:HTTP/1[\\s\\S]*){${index + 1}}\\}$`));
      }
      raw.socket.destroy();
      return [...raw.text().matchAll(/^keep-alive: timeout=(\d+)\r$/gim)].map((match) => match[1] ?? '');
    };
    const refused = post(genuine(), { authorization: 'Bearer no' });
    expect(await times(get('/healthz'), refused, post('not json'), get('/healthz'))).toEqual(['5', '5', '65', '65']);
    expect(await times(get('/api/v1/balances'), post(genuine()))).toEqual(['5', '65']);
    expect(await times(get('/healthz').replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n'))).toEqual([]);
    expect(await times(post('', { expect: '100-continue', authorization: 'Bearer no' }))).toEqual([]);
  });

  it('stays unauthenticated without credentials, and valid credentials count even where the body is refused', async () => {
    await using open = await openTestContext({ WEBHOOK_AUTH: 'none', WEBHOOK_SECRET: '' });
    const limits = { ...strict, unauthenticatedIdleMs: 2_000 };
    await using unlocked = await serveHttp(open, createApp(open), limits);
    await using locked = await serveHttp(context, createApp(context), limits);
    const [stranger, known] = [await dial(unlocked.port), await dial(locked.port)];
    known.socket.write(post('not json'));
    await known.until(/ 400 [\s\S]*\}$/);
    stranger.socket.write(post(genuine()));
    await stranger.until(/"received":true/);
    await stranger.closed;
    known.socket.write(post(genuine()));
    await known.until(/"received":true/);
    known.socket.destroy();
  });

  it('is not limited through a named proxy', async () => {
    await using behind = await openTestContext({ TRUST_PROXY: '127.0.0.0/8' });
    const limits = { ...strict, connectionsPerSourceMax: 2, unauthenticatedIdleMs: 200 };
    await using own = await serveHttp(behind, createApp(behind), limits);
    const raws = await Promise.all(Array.from({ length: 6 }, () => dial(own.port)));
    await sleep(250);
    for (const raw of raws) {
      raw.socket.write(get('/healthz'));
      await raw.until(/"alive":true/);
      raw.socket.destroy();
    }
  });

  it('is limited with a hop count too, until it forwards a request', async () => {
    await using behind = await openTestContext({ TRUST_PROXY: '1' });
    await using own = await serveHttp(behind, createApp(behind), { ...strict, unauthenticatedIdleMs: 300 });
    const [silent, direct, proxied] = await Promise.all([0, 0, 0].map(() => dial(own.port)));
    direct?.socket.write(get('/healthz'));
    const passedOn = get('/healthz').replace('host: a', 'host: a\r\nx-forwarded-for: 203.0.113.7');
    proxied?.socket.write(passedOn);
    await proxied?.until(/"alive":true/);
    await Promise.all([silent?.closed, direct?.closed]);
    proxied?.socket.write(passedOn);
    await proxied?.until(/(?:"alive":true[\s\S]*){2}/);
    proxied?.socket.destroy();
  });

  it('that does not read its responses is closed', async () => {
    const app = express();
    app.get('/large', (_request, response) => void response.send('x'.repeat(64 * 1024 * 1024)));
    await using own = await serveHttp(context, app, { ...strict, unauthenticatedIdleMs: 60_000, unreadMs: 300 });
    const [deaf, reading] = [await dial(own.port), await dial(own.port)];
    deaf.socket.pause();
    for (const raw of [deaf, reading]) raw.socket.write(get('/large'));
    await reading.until(/x{64}$/);
    const cut = await eventually(async () => {
      // a write shows the reset
      deaf.socket.write('\r\n');
      return deaf.socket.destroyed;
    });
    expect(cut).toBe(true);
    reading.socket.destroy();
  });

  it.each([
    ['/slow', 1],
    ['/webhooks/slow', 4],
  ])(
    'has pipelinedMax requests answered before it is closed; of %s it has %s started at once',
    async (address, max) => {
      const app = express();
      let under = 0;
      let most = 0;
      app.get(address, async (_request, response) => {
        most = Math.max(most, ++under);
        await sleep(20);
        under--;
        response.send('done.');
      });
      await using own = await serveHttp(context, app, { ...strict, pipelinedMax: 4 });
      const raw = await dial(own.port);
      raw.socket.write(get(address).repeat(50));
      await raw.closed;
      expect([most, statuses(raw.text())]).toEqual([max, ['200', '200', '200', '200']]);
    },
  );

  it.each([
    ['with a host', 'GET /webhooks/slow HTTP/1.1\r\nhost:\r\n\r\n', 4],
    ['without a host, which are answered 400', 'GET / HTTP/1.1\r\n\r\n', 1],
    ['with an expectation, which are answered 417', 'GET / HTTP/1.1\r\nhost:\r\nexpect: x\r\n\r\n', 4],
  ])('parses no more pipelined requests than it may send: %s', async (_, request, max) => {
    const app = express();
    app.get('/webhooks/slow', (_request, response) => void response.send('done.'));
    await using own = await serveHttp(context, app, { ...strict, pipelinedMax: 4 });
    let parsed = 0;
    const count = () => void parsed++;
    subscribe('http.server.request.start', count);
    const raw = await dial(own.port);
    raw.socket.write(request.repeat(4_000));
    await raw.closed;
    unsubscribe('http.server.request.start', count);
    expect(statuses(raw.text())).toHaveLength(max);
    // and the first that is one too many
    expect(parsed).toBeLessThanOrEqual(max + 1);
  });
});

describe('half-read bodies of one address', () => {
  it('are aborted for new ones once they stall, and the newest are read', async () => {
    const patient = {
      ...LIMITS,
      connectionsMax: 200,
      connectionsPerSourceMax: 200,
      requestTimeoutMs: 600_000,
      headersTimeoutMs: 600_000,
    };
    await using own = await serveHttp(context, createApp(context), patient);
    const stalled = await Promise.all(Array.from({ length: BODIES_PER_SOURCE_MAX + 6 }, () => dial(own.port)));
    for (const raw of stalled) raw.socket.write(post(genuine(), { 'content-length': '5000' }));
    await eventually('the oldest is cut off', async () => {
      const raw = await dial(own.port);
      raw.socket.write(post(genuine()));
      await raw.until(/"received":true/);
      raw.socket.destroy();
      return stalled[0]?.text().includes(' 408 ');
    });
    for (const raw of stalled) raw.socket.destroy();
  });
});

describe('a request that is refused by its headers', () => {
  const MANY = '200000';
  it.each([
    ['a wrong bearer', { authorization: 'Bearer no', 'content-length': MANY }, '401'],
    ['no credentials', { authorization: '', 'content-length': MANY }, '401'],
    ['a compressed body', { 'content-encoding': 'gzip', 'content-length': MANY }, '415'],
    ['a body that is too large', { 'content-length': String(256 * 1024 + 1) }, '413'],
  ])('%s: is answered before the body is sent', async (_, headers, status) => {
    const raw = await dial(server.port);
    raw.socket.write(post('', headers));
    await raw.until(/\}$/);
    expect(statuses(raw.text())).toEqual([status]);
    raw.socket.destroy();
  });

  it('has the rest discarded, and the connection carries another', async () => {
    const before = await countStored();
    const raw = await dial(server.port);
    raw.socket.write(post('x'.repeat(300_000)));
    raw.socket.write(post('x'.repeat(60_000), { authorization: 'Bearer no' }));
    raw.socket.write(post(genuine()));
    await raw.until(/"received":true/);
    expect(statuses(raw.text())).toEqual(['413', '401', '200']);
    expect(await countStored()).toBe(before + 1);
    raw.socket.destroy();
  });

  it('is cut off when the rest does not come, or does not end', async () => {
    const limits = { bytesMax: 2 ** 28, discardMs: DISCARD_MS };
    const app = routeWebhooks(express(), context, createReceiver(context, undefined), limits);
    const patient = await serveHttp(context, app, LIMITS);
    const stalled = await dial(patient.port);
    stalled.socket.write(post('', { authorization: 'Bearer no', 'content-length': MANY }));
    const endless = await dial(patient.port);
    const head = post('', { 'transfer-encoding': 'chunked' }).replace(/content-length: 0\r\n/, '');
    endless.socket.write(head);
    let sent = 0;
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const send = (): void => {
      while (!endless.socket.destroyed && endless.socket.write(chunk)) sent += chunk.length;
      sent += chunk.length;
    };
    endless.socket.on('drain', send);
    send();
    await endless.until(/\}$/);
    await Promise.all([stalled.closed, endless.closed]);
    expect([statuses(stalled.text()), statuses(endless.text())]).toEqual([['401'], ['413']]);
    // the kernel's buffers on both sides add to the discarded bytes
    expect(sent).toBeLessThan(32 * 1024 * 1024);
    await patient[Symbol.asyncDispose]();
  });

  it('receives no 100 Continue when refused', async () => {
    const raw = await dial(server.port);
    raw.socket.write(post('', { authorization: 'Bearer no', expect: '100-continue', 'content-length': MANY }));
    await raw.closed;
    expect(raw.text()).not.toMatch(/100 Continue/);
    expect(raw.text()).toMatch(/^HTTP\/1.1 401[\s\S]*connection: close/i);
  });

  it('needs a signature where one is configured; a wrong one is detected by the body', async () => {
    await using signed = await openTestContext({ WEBHOOK_AUTH: 'hmac' });
    const other = await serveHttp(signed, createApp(signed), LIMITS);
    const [without, wrong, right] = [await dial(other.port), await dial(other.port), await dial(other.port)];
    without.socket.write(post('', { 'content-length': MANY }));
    await without.until(/ 401 [\s\S]*\}$/);
    const body = genuine();
    const signature = createHmac('sha256', WEBHOOK_SECRET).update(body).digest('hex');
    wrong.socket.write(post(genuine(), { 'x-signature': signature }));
    await wrong.until(/ 401 [\s\S]*\}$/);
    right.socket.write(post(body, { 'x-signature': `sha256=${signature}` }));
    await right.until(/"received":true/);
    for (const raw of [without, wrong, right]) raw.socket.destroy();
    await other[Symbol.asyncDispose]();
  });
});

describe('bodies that are being read', () => {
  it('take no more memory together than is allowed, and those that fit go on', async () => {
    const limits = { bytesMax: 1_000, discardMs: DISCARD_MS };
    const app = routeWebhooks(express(), context, createReceiver(context, undefined), limits);
    const other = await serveHttp(context, app, LIMITS);
    const [slow, last] = [await dial(other.port), await dial(other.port)];
    const body = JSON.stringify({ transaction_id: randomUUID(), status: 'paid', pad: 'x'.repeat(600) });
    const whole = post(body);
    slow.socket.write(whole.slice(0, -10));
    // while it is being read, others still fit
    await eventually(async () => {
      const beside = await dial(other.port);
      beside.socket.write(post(JSON.stringify({ transaction_id: randomUUID(), pad: 'x'.repeat(600) })));
      await beside.until(/\r\n\r\n[\s\S]*\}$/);
      beside.socket.destroy();
      return / 503 [\s\S]*retry-after: 5/i.test(beside.text());
    });
    slow.socket.write(whole.slice(-10));
    await slow.until(/"received":true/);
    last.socket.write(post(JSON.stringify({ transaction_id: randomUUID(), pad: 'x'.repeat(600) })));
    await last.until(/"received":true/);
    for (const raw of [slow, last]) raw.socket.destroy();
    await other[Symbol.asyncDispose]();
  });
});

describe('the rest of the app', () => {
  it('asks for a body that waits to be asked', async () => {
    const raw = await dial(server.port);
    raw.socket.write(
      'POST /api/v1/tokens HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n',
    );
    await raw.until(/100 Continue/);
    raw.socket.write('{}');
    await raw.until(/ 401 [\s\S]*\}$/);
    raw.socket.destroy();
  });
});

describe('a drain', () => {
  it('answers what is under way and what was sent before it was seen, each as the last on its connection', async () => {
    const app = express();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    app.get('/held', async (_request, response) => {
      response.write('first half, ');
      await held;
      response.end('second half');
    });
    app.get('/quick', (_request, response) => void response.send('quick'));
    const draining = await serveHttp(context, app, LIMITS);
    const [busy, idle, gone] = [await dial(draining.port), await dial(draining.port), await dial(draining.port)];
    busy.socket.write('GET /held HTTP/1.1\r\nhost: a\r\n\r\n');
    await busy.until(/first half/);
    for (const raw of [idle, gone]) {
      raw.socket.write('GET /quick HTTP/1.1\r\nhost: a\r\n\r\n');
      await raw.until(/quick$/);
    }
    const disposed = draining[Symbol.asyncDispose]();
    // a balancer that has not noticed the shutdown
    idle.socket.write('GET /quick HTTP/1.1\r\nhost: a\r\n\r\n');
    await idle.closed;
    expect(idle.text()).toMatch(/quick[\s\S]*connection: close[\s\S]*quick$/i);
    release();
    await busy.closed;
    expect(busy.text()).toMatch(/first half, [\s\S]*second half/);
    await gone.closed;
    await disposed;
    const late = await dial(draining.port);
    expect(late.socket.destroyed).toBe(true);
  });

  it('adds connection: close to responses under way; of pipelined ones, to the last', async () => {
    const app = express();
    const held = Promise.withResolvers<void>();
    let asked = 0;
    app.get('/held', async (_request, response) => {
      asked++;
      await held.promise;
      response.send('held');
    });
    const draining = await serveHttp(context, app, LIMITS);
    const [one, two] = [await dial(draining.port), await dial(draining.port)];
    const request = 'GET /held HTTP/1.1\r\nhost: a\r\n\r\n';
    one.socket.write(request);
    two.socket.write(request + request);
    // a second one of the same connection starts after the answer to the first
    await eventually(async () => asked === 2);
    const disposed = draining[Symbol.asyncDispose]();
    held.resolve();
    await Promise.all([one.closed, two.closed]);
    expect(one.text()).toMatch(/connection: close[\s\S]*held$/i);
    expect(two.text()).toMatch(/connection: keep-alive[\s\S]*held[\s\S]*connection: close[\s\S]*held$/i);
    await disposed;
  });

  it('closes a connection whose answer began before it once that has ended, and does not wait to cut it', async () => {
    const app = express();
    const held = Promise.withResolvers<void>();
    app.get('/held', async (_request, response) => {
      response.write('first half, ');
      await held.promise;
      response.end('second half');
    });
    const draining = await serveHttp(context, app, LIMITS);
    const busy = await dial(draining.port);
    busy.socket.write('GET /held HTTP/1.1\r\nhost: a\r\n\r\n');
    await busy.until(/first half/);
    const disposed = draining[Symbol.asyncDispose]();
    await eventually(async () => {
      const { socket } = await dial(draining.port);
      const isRefused = socket.destroyed;
      socket.destroy();
      return isRefused;
    });
    held.resolve();
    await busy.closed;
    expect(busy.text()).toMatch(/first half, [\s\S]*second half/);
    await disposed;
  });
});

describe('a long answer', () => {
  const LONG = Buffer.concat([Buffer.alloc(10_000_000, 'x'), Buffer.from('END')]);

  it.each([
    ['whole before the signal', true, true],
    ['whole in the drain, begun before it', true, false],
    ['whole in the drain, begun in it', false, false],
  ])('that is %s reaches a slow reader', async (_, isBegun, isWhole) => {
    const app = express();
    const asked = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const sent = Promise.withResolvers<void>();
    app.get('/long', async (_request, response) => {
      response.setHeader('content-length', LONG.length);
      if (isBegun) response.flushHeaders();
      asked.resolve();
      await held.promise;
      response.end(LONG);
      sent.resolve();
    });
    const draining = await serveHttp(context, app, { ...LIMITS, lingerMs: 30 });
    const reader = await dial(draining.port);
    reader.socket.pause();
    reader.socket.write('GET /long HTTP/1.1\r\nhost: a\r\n\r\n');
    await asked.promise;
    if (isWhole) {
      held.resolve();
      await sent.promise;
    }
    const disposed = draining[Symbol.asyncDispose]();
    await eventually(async () => {
      const { socket } = await dial(draining.port);
      const isRefused = socket.destroyed;
      socket.destroy();
      return isRefused;
    });
    held.resolve();
    await sent.promise;
    // so that idle connections are closed meanwhile
    await sleep(150);
    reader.socket.resume();
    await reader.closed;
    const [head = '', body = ''] = reader.text().split('\r\n\r\n');
    expect(head).toMatch(isBegun ? /connection: keep-alive/i : /connection: close/i);
    expect([body.length, body.slice(-3)]).toEqual([LONG.length, 'END']);
    await disposed;
  });

  it('is not kept once it was sent, though its connection is', async () => {
    const app = express();
    const answers: WeakRef<object>[] = [];
    app.get('/quick', (_request, response) => {
      answers.push(new WeakRef(response));
      response.send('quick');
    });
    const own = await serveHttp(context, app, LIMITS);
    const idle = await dial(own.port);
    idle.socket.write('GET /quick HTTP/1.1\r\nhost: a\r\n\r\n');
    await idle.until(/quick$/);
    await eventually(async () => {
      collectGarbage();
      return answers[0]?.deref() === undefined;
    });
    expect([answers.length, idle.socket.destroyed]).toEqual([1, false]);
    idle.socket.destroy();
    await own[Symbol.asyncDispose]();
  });
});

describe('a quarantine that is full', () => {
  it('answers 503 with Retry-After to a body that names no transaction, and 200 to a genuine one', async () => {
    await using small = await openTestContext({ QUARANTINE_MAX_BYTES: '2KiB' });
    const full = await serveHttp(small, createApp(small), LIMITS);
    const raw = await dial(full.port);
    for (let n = 1; n <= 3; n++) {
      raw.socket.write(post(`garbage ${n} ${'x'.repeat(1_100)}`));
      await raw.until(new RegExp(`(?:HTTP/1[\\s\\S]*){${n}}\\}$`));
    }
    raw.socket.write(post(genuine()));
    await raw.until(/(?:HTTP\/1[\s\S]*){4}\}$/);
    expect(statuses(raw.text())).toEqual(['400', '400', '503', '200']);
    expect(raw.text()).toMatch(/retry-after: 5/i);
    raw.socket.destroy();
    await full[Symbol.asyncDispose]();
  });
});
