import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readOptions } from '../../sandbox/read-options.ts';
import { type RunningSandbox, startSandbox } from '../../sandbox/start-sandbox.ts';
import { MACHINE_TIMERS, type Timers } from '../../sandbox/timers.ts';
import { createTestDatabase, testServer } from './create-test-database.ts';
import { API_KEY } from './start-serve.ts';

const KEY = API_KEY;
export const PLATFORM = '0f0e7b8e-5a55-4b3c-9a51-1b5d7b3d1a01';

type Answer = {
  status: number;
  headers: Headers;
  text: string;
  json: Body;
};

export type Shown = {
  id: string;
  operation: string;
  status: string;
  amount: string;
  date_created: string;
  document: string;
  name: string;
  phone: string;
  platform: string;
  reference: string;
  e2e_id: string;
  payment_link: string;
  qr_code: string;
  qr_code_image: string;
  pix_key: string;
  events: Array<{ date_created: string; status: string }>;
};

/** All fields of any answer. Each test knows which ones are present. */
type Body = {
  transaction: [Shown];
  transactions: Shown[];
  current_page: number;
  last_page: number;
  next_page_url: string | false;
  total: number;
  error: number;
  message: string;
  errors: Record<string, string[]>;
};

export type TestSandbox = RunningSandbox & {
  database: string;
  /** sends a request as a correct client does; a text `body` is sent unchanged */
  request(method: string, path: string, body?: unknown, headers?: Record<string, string | undefined>): Promise<Answer>;
};

/**
 * Starts the sandbox in this process. Transactions that clients create stay pending.
 * @param on.database the database of a sandbox that has ended; by default a new one.
 * @param on.timers timers that a test can advance.
 */
export async function startTestSandbox(
  args: string[] = [],
  on: { database?: string; timers?: Timers } = {},
): Promise<TestSandbox> {
  const name = on.database ?? (await createTestDatabase('sandbox')).database;
  const options = readOptions(['--port', '0', '--api-key', KEY, '--seed', '1', '--manual', ...args], {});
  const all = { ...options, server: testServer(), database: name };
  const nothing = (): void => undefined;
  const running = await startSandbox(all, nothing, nothing, on.timers ?? MACHINE_TIMERS);
  return Object.assign(running, {
    database: name,
    request: (method: string, path: string, body?: unknown, headers: Record<string, string | undefined> = {}) =>
      ask(running.url + path, method, body, headers),
  });
}

async function ask(
  url: string,
  method: string,
  body: unknown,
  headers: Record<string, string | undefined>,
): Promise<Answer> {
  const all = {
    authorization: `Bearer ${KEY}`,
    accept: 'application/json',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers,
  };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const response = await fetch(url, {
    method,
    headers: Object.fromEntries(given),
    redirect: 'manual',
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parse(text) };
}

function parse(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const CASHIN = {
  name: 'Ângela d’Ávila',
  email: 'angela@exemplo.com.br',
  phone: '11987654321',
  description: 'Pedido 1001',
  document: '529.982.247-25',
  amount: 10.1,
  platform: PLATFORM,
};

export const CASHOUT = { ...CASHIN, pix_key: 'angela@exemplo.com.br', key_type: 'EMAIL' };

export type ReceivedWebhook = { authorization: string | undefined; body: Record<string, unknown>; text: string };

/** Receives webhooks, and answers with the status of `answer`, 200 by default. */
export async function startWebhookReceiver(answer: (received: ReceivedWebhook[]) => number = () => 200) {
  const received: ReceivedWebhook[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = Buffer.concat(parts).toString('utf8');
      received.push({ authorization: request.headers.authorization, body: JSON.parse(text), text });
      response.writeHead(answer(received)).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
