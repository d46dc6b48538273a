import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ShownTransaction } from './observations.ts';

/** What is answered to shows and lists in place of the truth. */
export type Fault = { status: number; retryAfter?: number };

/** A provider over real HTTP that knows what a test tells it: shows by id, and lists by reference. */
export type FakeProvider = AsyncDisposable & {
  url: string;
  rows: Map<string, unknown>;
  /** Takes a row in as it is, or anything else to be shown under an id. */
  put(row: ShownTransaction): ShownTransaction;
  putRaw(id: string, row: unknown): void;
  /** How often each path was asked for; a list by its reference. */
  asked: Map<string, number>;
  fault: Fault | undefined;
  delayMs: number;
};

export async function startFakeProvider(): Promise<FakeProvider> {
  const rows = new Map<string, unknown>();
  const asked = new Map<string, number>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://provider');
    const shown = /^\/api\/v1\/transaction\/(.+)$/.exec(url.pathname)?.[1];
    const key = shown === undefined ? `reference ${url.searchParams.get('reference')}` : decodeURIComponent(shown);
    asked.set(key, (asked.get(key) ?? 0) + 1);
    if (provider.delayMs > 0) await sleep(provider.delayMs);
    if (provider.fault) fail(response, provider.fault);
    else if (shown !== undefined) {
      const row = rows.get(key);
      if (row === undefined) fail(response, { status: 404 });
      else send(response, 200, { transaction: [row] });
    } else {
      const reference = url.searchParams.get('reference');
      const found = [...rows.values()].filter((row) => (row as ShownTransaction).reference === reference);
      send(response, 200, { transactions: found, total: found.length, last_page: 1, next_page_url: false });
    }
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const provider: FakeProvider = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    rows,
    asked,
    fault: undefined,
    delayMs: 0,
    put(row) {
      rows.set(row.id, row);
      return row;
    },
    putRaw: (id, row) => void rows.set(id, row),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return provider;
}

function fail(response: ServerResponse, fault: Fault): void {
  if (fault.retryAfter !== undefined) response.setHeader('retry-after', String(fault.retryAfter));
  send(response, fault.status, { message: 'no' });
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
