import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { createApp } from '../../../src/http/app.ts';
import { type HttpLimits, type HttpServer, serveHttp } from '../../../src/http/serve-http.ts';
import { WEBHOOK_SECRET } from '../../support/programs.ts';
import { openWorld } from './world.ts';

const LIMITS: HttpLimits = {
  headersTimeoutMs: 400,
  requestTimeoutMs: 800,
  checkEveryMs: 100,
  keepAliveMs: 5_000,
  connectionsMax: 20,
  lingerMs: 1_500,
  drainMs: 5_000,
};

let context: Context;
let server: HttpServer;

beforeAll(async () => {
  context = await openWorld();
  server = await serveHttp(context, createApp(context), LIMITS);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await context[Symbol.asyncDispose]();
});

type Raw = { socket: Socket; text: () => string; closed: Promise<void>; until: (pattern: RegExp) => Promise<void> };

/** A bare connection: what it is sent, byte for byte. */
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
    while (!pattern.test(text)) {
      if (socket.destroyed) throw new Error(`closed before ${pattern}: ${text}`);
      await sleep(5);
    }
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

async function countKept(): Promise<number> {
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

describe('a stranger who takes his time', () => {
  it.each([
    ['sends nothing at all', ''],
    ['stops within the headers', 'POST /webhooks/pix HTTP/1.1\r\nhost: a\r\nx-a'],
    ['stops within the body', post(genuine(), { 'content-length': '5000' })],
  ])('is cut off when he %s', async (_, start) => {
    const before = await countKept();
    const raw = await dial(server.port);
    raw.socket.write(start);
    await raw.closed;
    expect(['', '408']).toContain(statuses(raw.text()).join());
    expect(await countKept()).toBe(before);
  });

  it('is cut off when he drips, while others are served', async () => {
    const raw = await dial(server.port);
    raw.socket.write('POST /webhooks/pix HTTP/1.1\r\nhost: a\r\n');
    const drip = setInterval(() => raw.socket.write('x: y\r\n'), 50);
    const other = await dial(server.port);
    other.socket.write(post(genuine()));
    await other.until(/"received":true/);
    other.socket.destroy();
    await raw.closed;
    clearInterval(drip);
    expect(statuses(raw.text())).not.toContain('200');
  });

  it('can open so many connections and no more', async () => {
    const raws = await Promise.all(Array.from({ length: LIMITS.connectionsMax + 10 }, () => dial(server.port)));
    await Promise.all(raws.map((raw) => raw.closed));
    const raw = await dial(server.port);
    raw.socket.write(post(genuine()));
    await raw.until(/"received":true/);
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
    // a balancer that has not seen it yet
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
});

describe('a quarantine that is full', () => {
  it('takes nothing more, and says when to come again', async () => {
    await using small = await openWorld({ QUARANTINE_MAX_BYTES: '2KiB' });
    const full = await serveHttp(small, createApp(small), LIMITS);
    const raw = await dial(full.port);
    for (let n = 1; n <= 3; n++) {
      raw.socket.write(post(`garbage ${n} ${'x'.repeat(1_100)}`));
      await raw.until(new RegExp(`(?:HTTP/1[\\s\\S]*){${n}}\\}$`));
    }
    raw.socket.write(post(genuine()));
    await raw.until(/(?:HTTP\/1[\s\S]*){4}\}$/);
    expect(statuses(raw.text())).toEqual(['400', '400', '503', '503']);
    expect(raw.text()).toMatch(/retry-after: 5/i);
    raw.socket.destroy();
    // measured as well, not only remembered
    await small.db.updateTable('webhooks').set({ state: 'quarantined' }).execute();
    const again = await serveHttp(small, createApp(small), LIMITS);
    let last = '';
    for (let tries = 0; last !== '503' && tries < 200; tries++) {
      const one = await dial(again.port);
      one.socket.write(post(`garbage 1 ${'x'.repeat(1_100)}`));
      await one.until(/\}$/);
      last = statuses(one.text())[0] ?? '';
      one.socket.destroy();
      await sleep(10);
    }
    expect(last).toBe('503');
    await full[Symbol.asyncDispose]();
    await again[Symbol.asyncDispose]();
  });
});
