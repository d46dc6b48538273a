import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Agent } from 'undici';
import { sendUntilStored } from '../../support/attack-receiver.ts';

/** The statuses with which a receiver may answer any request. */
const ALLOWED = [200, 400, 401, 413, 415];
const SENDERS = 16;

export type FuzzResult = {
  requests: number;
  byStatus: Record<number, number>;
  /** Answers that should not have been, each with the start of the body that caused it. */
  wrong: string[];
  /** Ids of what was answered 200, or 400 with good credentials: all of them have to be in the inbox. */
  kept: Set<string>;
};

/** Sends bodies made to break a reader, until `more` says no; connections that are cut off count as wrong. */
export async function fuzzReceiver(
  url: string,
  secret: string,
  more: (requests: number) => boolean,
): Promise<FuzzResult> {
  const result: FuzzResult = { requests: 0, byStatus: {}, wrong: [], kept: new Set() };
  const agent = new Agent({ connections: SENDERS, pipelining: 1 });
  const send = async (): Promise<void> => {
    while (more(result.requests)) {
      result.requests++;
      const { body, headers } = makeRequest(secret);
      try {
        const status = await sendUntilStored(async () => {
          const response = await agent.request({ origin: url, path: '/webhooks/pix', method: 'POST', headers, body });
          await response.body.dump();
          return response.statusCode;
        });
        result.byStatus[status] = (result.byStatus[status] ?? 0) + 1;
        if (!ALLOWED.includes(status)) result.wrong.push(`${status} ${describe(body)}`);
        if (status === 200 || status === 400) result.kept.add(idOf(body));
      } catch (error) {
        result.wrong.push(`${(error as Error).message} ${describe(body)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  await agent.close();
  return result;
}

function describe(body: Buffer): string {
  return body.subarray(0, 100).toString('latin1');
}

function idOf(body: Buffer): string {
  return `wh_${createHash('sha256').update(body).digest('hex').slice(0, 32)}`;
}

function makeRequest(secret: string): { body: Buffer; headers: Record<string, string> } {
  const body = Buffer.from(pick(BODIES)());
  const headers: Record<string, string> = { authorization: `Bearer ${secret}` };
  const dice = Math.random();
  if (dice < 0.05) headers.authorization = pick(['', 'Bearer', `Basic ${secret}`, `Bearer ${secret}x`, 'Bearer \t']);
  else if (dice < 0.08) headers['content-encoding'] = pick(['gzip', 'br', 'deflate', 'nonsense']);
  if (Math.random() < 0.5)
    headers['content-type'] = pick(['application/json', 'text/plain', 'x', 'a/b; charset=utf-7']);
  return { body, headers };
}

/** As the live service sends them. */
function makeReal(): Record<string, unknown> {
  const id = randomUUID();
  return {
    id: Math.floor(Math.random() * 1e6),
    transaction_id: id,
    transaction_amount: '12.34',
    transaction_e2e_id: `E12345678202611211200${randomBytes(6).toString('hex').slice(0, 11)}`,
    transaction_operation: 'in',
    transaction_reference: `order-${id.slice(0, 8)}`,
    extra: 'cart 9',
    date_created: '2026-11-21 12:00:00',
    status: 'paid',
    path: `/api/v1/transaction/${id}`,
  };
}

const ODD: (() => unknown)[] = [
  () => null,
  () => true,
  () => -0,
  () => 1e308,
  () => 0.1 + 0.2,
  () => '',
  () => '\u0000',
  () => '\ud800',
  () => '🧾'.repeat(300),
  () => 'x'.repeat(Math.floor(Math.random() * 5_000)),
  () => [],
  () => ({}),
  () => [[], [[]]],
  () => ({ toString: 1, length: -1 }),
  () => ({ transaction: { data: { transactions: [] } } }),
  () => "'; DROP TABLE webhooks; --",
  () => '../../etc/passwd',
  () => randomUUID(),
];

const BODIES: (() => string | Buffer)[] = [
  () => randomBytes(Math.floor(Math.random() * 2_000)),
  () => JSON.stringify(makeReal()),
  () => JSON.stringify(mutate(makeReal())),
  () => JSON.stringify([makeReal(), mutate(makeReal()), makeReal()]),
  () => JSON.stringify({ [pick(['transaction', 'transactions', 'data'])]: pick(ODD)(), id: randomUUID() }),
  () => flipBytes(Buffer.from(JSON.stringify(makeReal()))),
  () => JSON.stringify(makeReal()).slice(0, Math.floor(Math.random() * 200)),
  () => nest(pick([10, 31, 32, 33, 40, 5_000, 100_000])),
  () => `{"__proto__":{"id":"${randomUUID()}"},"constructor":{"prototype":{"x":1}},"id":"${randomUUID()}"}`,
  () => `{"transaction_id":"${randomUUID()}","transaction_id":"${randomUUID()}","status":"paid","status":{}}`,
  () => `{"transaction_id":"${randomUUID()}","amount":${'9'.repeat(400)},"id":-1e400,"n":1E+9999}`,
  () => Buffer.concat([Buffer.from('{"id":"'), randomBytes(40), Buffer.from('"}')]),
  () => Buffer.from(`\ufeff{"id":"${randomUUID()}"}`),
  () => Buffer.from(`{"id":"${randomUUID()}"}`, 'utf16le'),
  () => `[${'{},'.repeat(Math.floor(Math.random() * 3_000))}{}]`,
  () => JSON.stringify({ id: randomUUID(), pad: 'x'.repeat(pick([200_000, 262_000, 262_144, 300_000])) }),
  () => pick(['', ' ', '0', 'null', '"x"', '[]', '{}', 'NaN', '[1,]', '{"a":1}garbage']),
];

function mutate(fields: Record<string, unknown>): Record<string, unknown> {
  const mutated = { ...fields };
  for (const name of Object.keys(mutated)) {
    if (Math.random() < 0.7) continue;
    if (Math.random() < 0.3) delete mutated[name];
    else mutated[name] = pick(ODD)();
  }
  return mutated;
}

function flipBytes(body: Buffer): Buffer {
  for (let times = 0; times < 3; times++)
    body[Math.floor(Math.random() * body.length)] = Math.floor(Math.random() * 256);
  return body;
}

function nest(levels: number): string {
  const [open, close] = pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['{"transaction":', '}'],
  ] as const);
  return `${open.repeat(levels)}1${close.repeat(levels)}`;
}

function pick<T>(from: readonly T[]): T {
  const index = Math.floor(Math.random() * from.length);
  return from[index] ?? (from[0] as T);
}
