import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import {
  type Attack,
  openManyConnections,
  postWebhook,
  requestHead,
  type Target,
  unknownIdsBody,
} from '../../test/support/attack-receiver.ts';

/** How long an attack holds its connections before it starts again. */
const HOLD_MS = 3_000;
const NOTHING: Attack = { sockets: [], statuses: [], [Symbol.dispose]: () => undefined };

async function postMany(target: Target, count: number, body: () => string): Promise<Attack> {
  await Promise.all(Array.from({ length: count }, () => postWebhook(target, body()).catch(() => 0)));
  return NOTHING;
}

const LARGE = 'x'.repeat(250_000);
const PIPELINED = 'GET /openapi HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(200);

/** The attacks. Each repeats until the bench stops it. */
export const ATTACKS: Record<string, (target: Target) => Promise<Attack>> = {
  // the baseline without an attack
  nothing: async () => NOTHING,
  '2,000 idle connections': (target) => openManyConnections(target, 2_000, ''),
  '600 half-read bodies': (target) =>
    openManyConnections(target, 600, `${requestHead(200_000, target.secret)}{"transaction_id":`),
  '200 unread pipelined answers on 20 connections': (target) => openManyConnections(target, 20, PIPELINED, false),
  'garbage of 250 KB': (target) => postMany(target, 50, () => `${randomUUID()}${LARGE}`),
  'random ids in bodies of 250 KB': (target) =>
    postMany(target, 20, () => JSON.stringify({ transaction_id: randomUUID(), pad: LARGE })),
  'bodies of 1,000 unknown ids': (target) => postMany(target, 5, () => unknownIdsBody(1_000)),
};

async function attack(): Promise<void> {
  const { attack: name, target } = workerData as { attack: string; target: Target };
  for (let round = 0; ; round++) {
    using _held = (await ATTACKS[name]?.(target)) ?? NOTHING;
    if (round === 0) parentPort?.postMessage('begun');
    await sleep(HOLD_MS);
  }
}

if (!isMainThread) await attack();
