import { createHash } from 'node:crypto';
import { Agent } from 'undici';
import { createRandom, makeUuid, type Random } from '../../../sandbox/domain/random.ts';
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

/**
 * Sends bodies made to break a reader, until `more` says no; connections that are cut off count as wrong. The same seed makes
 * the same requests.
 */
export async function fuzzReceiver(
  url: string,
  secret: string,
  seed: number,
  more: (requests: number) => boolean,
): Promise<FuzzResult> {
  const result: FuzzResult = { requests: 0, byStatus: {}, wrong: [], kept: new Set() };
  const random = createRandom(String(seed));
  const agent = new Agent({ connections: SENDERS, pipelining: 1 });
  const send = async (): Promise<void> => {
    while (more(result.requests)) {
      const { body, headers } = makeRequest(random.fork(String(result.requests++)), secret);
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

function makeRequest(random: Random, secret: string): { body: Buffer; headers: Record<string, string> } {
  const body = Buffer.from(random.pick(BODIES)(random));
  const headers: Record<string, string> = { authorization: `Bearer ${secret}` };
  const dice = random.next();
  if (dice < 0.05)
    headers.authorization = random.pick(['', 'Bearer', `Basic ${secret}`, `Bearer ${secret}x`, 'Bearer \t']);
  else if (dice < 0.08) headers['content-encoding'] = random.pick(['gzip', 'br', 'deflate', 'nonsense']);
  if (random.chance(0.5))
    headers['content-type'] = random.pick(['application/json', 'text/plain', 'x', 'a/b; charset=utf-7']);
  return { body, headers };
}

/** As the live service sends them. */
function makeReal(random: Random): Record<string, unknown> {
  const id = makeUuid(random);
  return {
    id: random.int(0, 999_999),
    transaction_id: id,
    transaction_amount: '12.34',
    transaction_e2e_id: `E12345678202611211200${random.text('0123456789abcdef', 11)}`,
    transaction_operation: 'in',
    transaction_reference: `order-${id.slice(0, 8)}`,
    extra: 'cart 9',
    date_created: '2026-11-21 12:00:00',
    status: 'paid',
    path: `/api/v1/transaction/${id}`,
  };
}

const ODD: ((random: Random) => unknown)[] = [
  () => null,
  () => true,
  () => -0,
  () => 1e308,
  () => 0.1 + 0.2,
  () => '',
  () => '\u0000',
  () => '\ud800',
  () => '🧾'.repeat(300),
  (random) => 'x'.repeat(random.int(0, 4_999)),
  () => [],
  () => ({}),
  () => [[], [[]]],
  () => ({ toString: 1, length: -1 }),
  () => ({ transaction: { data: { transactions: [] } } }),
  () => "'; DROP TABLE webhooks; --",
  () => '../../etc/passwd',
  (random) => makeUuid(random),
];

const BODIES: ((random: Random) => string | Buffer)[] = [
  (random) => makeBytes(random, random.int(0, 1_999)),
  (random) => JSON.stringify(makeReal(random)),
  (random) => JSON.stringify(mutate(random, makeReal(random))),
  (random) => JSON.stringify([makeReal(random), mutate(random, makeReal(random)), makeReal(random)]),
  (random) =>
    JSON.stringify({
      [random.pick(['transaction', 'transactions', 'data'])]: random.pick(ODD)(random),
      id: makeUuid(random),
    }),
  (random) => flipBytes(random, Buffer.from(JSON.stringify(makeReal(random)))),
  (random) => JSON.stringify(makeReal(random)).slice(0, random.int(0, 199)),
  (random) => nest(random, random.pick([10, 31, 32, 33, 40, 5_000, 100_000])),
  (random) =>
    `{"__proto__":{"id":"${makeUuid(random)}"},"constructor":{"prototype":{"x":1}},"id":"${makeUuid(random)}"}`,
  (random) =>
    `{"transaction_id":"${makeUuid(random)}","transaction_id":"${makeUuid(random)}","status":"paid","status":{}}`,
  (random) => `{"transaction_id":"${makeUuid(random)}","amount":${'9'.repeat(400)},"id":-1e400,"n":1E+9999}`,
  (random) => Buffer.concat([Buffer.from('{"id":"'), makeBytes(random, 40), Buffer.from('"}')]),
  (random) => Buffer.from(`\ufeff{"id":"${makeUuid(random)}"}`),
  (random) => Buffer.from(`{"id":"${makeUuid(random)}"}`, 'utf16le'),
  (random) => `[${'{},'.repeat(random.int(0, 2_999))}{}]`,
  (random) =>
    JSON.stringify({ id: makeUuid(random), pad: 'x'.repeat(random.pick([200_000, 262_000, 262_144, 300_000])) }),
  (random) => random.pick(['', ' ', '0', 'null', '"x"', '[]', '{}', 'NaN', '[1,]', '{"a":1}garbage']),
];

function mutate(random: Random, fields: Record<string, unknown>): Record<string, unknown> {
  const mutated = { ...fields };
  for (const name of Object.keys(mutated)) {
    if (random.chance(0.7)) continue;
    if (random.chance(0.3)) delete mutated[name];
    else mutated[name] = random.pick(ODD)(random);
  }
  return mutated;
}

function flipBytes(random: Random, body: Buffer): Buffer {
  for (let times = 0; times < 3; times++) body[random.int(0, body.length - 1)] = random.int(0, 255);
  return body;
}

function nest(random: Random, levels: number): string {
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['{"transaction":', '}'],
  ] as const);
  return `${open.repeat(levels)}1${close.repeat(levels)}`;
}

function makeBytes(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.int(0, 255)));
}
