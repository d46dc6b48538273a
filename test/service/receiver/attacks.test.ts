/**
 * Attacks and their outcomes: each from one address, with genuine webhooks from another and from the same one.
 * bench/attacks.ts measures how long those take.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HTTP_LIMITS } from '../../../src/http/connections/serve-http.ts';
import { FIRST_IDS } from '../../../src/inbox/receive/plan-shows.ts';
import {
  type Attack,
  genuineBody,
  openManyConnections,
  postWebhook,
  requestHead,
  sendUntilStored,
  type Target,
  unknownIdsBody,
} from '../../support/attack-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { openServedEnvironment, type ServedEnvironment } from '../../support/open-served-environment.ts';
import { makeShownTransaction } from '../../support/read-ledger-state.ts';
import { API_KEY, WEBHOOK_SECRET } from '../../support/start-serve.ts';
import { TestProvider } from '../../support/test-provider.ts';

const OTHER = '127.0.0.9';
const NOTHING: Attack = { sockets: [], statuses: [], [Symbol.dispose]: () => undefined };
const GARBAGE_KIB = 200;

/** Long time-outs: a connection that ends within a test was not timed out. */
const PATIENT = {
  headersTimeoutMs: 600_000,
  requestTimeoutMs: 600_000,
  unauthenticatedIdleMs: 600_000,
  unreadMs: 600_000,
};

let env: ServedEnvironment;
let provider: TestProvider;
let port: number;
/** Each attack comes from its own address, so that quotas are not shared. */
let addresses = 20;

beforeAll(async () => {
  provider = await new TestProvider(API_KEY).listen();
  const limited = { QUARANTINE_MAX_BYTES: '1MiB' };
  env = await openServedEnvironment({ providerUrl: provider.url, env: limited, httpLimits: PATIENT });
  env.use(provider);
  port = Number(new URL(env.url).port);
});
afterAll(() => env[Symbol.asyncDispose]());

const open = (attack: Attack): number => attack.sockets.filter((socket) => !socket.destroyed).length;
const keepsFew = (attack: Attack): Promise<boolean> =>
  eventually('few are left', () => open(attack) <= HTTP_LIMITS.connectionsPerSourceMax);

async function postEach(target: Target, bodies: string[]): Promise<Attack> {
  const statuses = await Promise.all(bodies.map((body) => postWebhook(target, body).then(String)));
  return { ...NOTHING, statuses };
}

/** As a provider does, which sends again what could not be stored. */
async function postUntilStored(target: Target, bodies: string[]): Promise<Attack> {
  const send = (body: string): Promise<number> => sendUntilStored(() => postWebhook(target, body));
  return { ...NOTHING, statuses: (await Promise.all(bodies.map(send))).map(String) };
}

type Row = {
  attack: string;
  run: (target: Target) => Promise<Attack>;
  outcome: (attack: Attack) => boolean | Promise<boolean>;
};

const ROWS: Row[] = [
  {
    attack: '2,000 idle connections',
    run: (target) => openManyConnections(target, 2_000, ''),
    outcome: keepsFew,
  },
  {
    attack: '600 heads that do not end',
    run: (target) => openManyConnections(target, 600, 'POST /webhooks/pix HTTP/1.1\r\nhost: a\r\nx-a'),
    outcome: keepsFew,
  },
  {
    attack: '600 half-read bodies with good credentials',
    run: (target) => openManyConnections(target, 600, `${requestHead(200_000, WEBHOOK_SECRET)}{"transaction_id":`),
    outcome: keepsFew,
  },
  {
    attack: '200 unread pipelined answers on each of 20 connections',
    run: (target) =>
      openManyConnections(target, 20, 'GET /openapi HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(200), false),
    outcome: async (attack) => {
      for (const socket of attack.sockets) socket.resume();
      return await eventually('each is closed', () => open(attack) === 0);
    },
  },
  {
    attack: '300 webhooks with wrong credentials',
    run: (target) => openManyConnections(target, 300, `${requestHead(2, 'no')}{}`),
    outcome: (attack) =>
      eventually('401', () => attack.statuses.length === 300 && attack.statuses.every((one) => one === '401')),
  },
  {
    attack: 'garbage beyond QUARANTINE_MAX_BYTES',
    run: (target) =>
      postEach(
        target,
        Array.from({ length: 12 }, () => `${randomUUID()} ${'x'.repeat(GARBAGE_KIB * 1024)}`),
      ),
    outcome: ({ statuses }) => statuses.includes('400') && statuses.includes('503') && new Set(statuses).size === 2,
  },
  {
    attack: 'ten bodies with 1,000 unknown ids each, and their repeats',
    run: async (target) => {
      const bodies = Array.from({ length: 10 }, () => unknownIdsBody(1_000));
      await postUntilStored(target, bodies);
      return await postUntilStored(target, bodies);
    },
    outcome: ({ statuses }) =>
      statuses.every((one) => one === '200') && provider.count('show') <= 10 * FIRST_IDS + 2 * GENUINE,
  },
  {
    attack: '50 bodies of 200 KiB with a random id each',
    run: (target) =>
      postUntilStored(
        target,
        Array.from({ length: 50 }, () =>
          JSON.stringify({ transaction_id: randomUUID(), pad: 'x'.repeat(GARBAGE_KIB * 1024) }),
        ),
      ),
    outcome: async ({ statuses }) => {
      const left = await eventually('bodies are dropped', async () => {
        await postWebhook({ port, from: OTHER, secret: WEBHOOK_SECRET }, genuineBody(randomUUID()));
        const rows = await env.context.db.selectFrom('webhooks').select('dropped_at').execute();
        return rows.some(({ dropped_at }) => dropped_at !== null);
      });
      return left && statuses.every((one) => one === '200');
    },
  },
];
/** Sent beside each attack from each address. */
const GENUINE = 5;

test.each(ROWS)('beside $attack genuine webhooks are answered and applied, from the same address too', async (row) => {
  provider.requests = [];
  const target = { port, from: `127.0.0.${++addresses}`, secret: WEBHOOK_SECRET };
  using attack = await row.run(target);
  const ids: string[] = [];
  for (const from of [OTHER, target.from]) {
    for (let n = 0; n < GENUINE; n++) {
      const { id } = provider.put(makeShownTransaction(['pending@0', 'paid@1'], { id: randomUUID() }));
      ids.push(id);
      const post = (): Promise<number> => postWebhook({ ...target, from }, genuineBody(id));
      if (from === OTHER) expect(await post()).toBe(200);
      // from the attacker's address it may have to wait until idle connections are closed
      else
        await eventually('answered', () =>
          post().then(
            (status) => status === 200,
            () => false,
          ),
        );
    }
  }
  await eventually('each is applied', async () => {
    const rows = await env.context.db.selectFrom('transactions').select('id').where('id', 'in', ids).execute();
    return rows.length === ids.length;
  });
  expect(await row.outcome(attack)).toBe(true);
});
