import { createHash, randomBytes } from 'node:crypto';
import type { Context } from '../../src/context.ts';
import type { Observation, ObservedTransaction } from '../../src/domain/observation.ts';
import type { Operation } from '../../src/domain/statuses.ts';
import { applyObservations } from '../../src/ledger/apply/apply-observations.ts';
import { createRandom } from './property.ts';

export const PLATFORM_A = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';
export const PLATFORM_B = 'a3bb189e-8bf9-4888-9912-ace4e6543002';

type History = [status: string, atWall: string][];
let counter = 0;

/** Makes a transaction as the provider would show it. Its history is oldest first and starts at its creation. */
export function transactionOf(
  operation: Operation,
  amountCents: bigint,
  history: History,
  facts: Partial<ObservedTransaction> = {},
): ObservedTransaction {
  const number = String(++counter).padStart(12, '0');
  const first = history[0]?.[1] ?? '';
  return {
    id: `0f0e0d0c-0000-4000-8000-${number}`,
    operation,
    status: history.at(-1)?.[0] ?? 'pending',
    amountCents,
    commissionCents: 50n,
    createdWall: first,
    reference: `pedido-${number}`,
    extra: null,
    platform: PLATFORM_A,
    e2eId: `E12345678${first.replace(/\D/g, '').slice(0, 12)}${number.slice(1)}`,
    name: 'Maria da Conceição',
    email: null,
    phone: null,
    document: '12345678909',
    description: null,
    pixKey: null,
    events: history.map(([status, atWall]) => ({ status, atWall })),
    eventsInferred: false,
    ...facts,
  };
}

/** Applies transactions to the ledger, as observed by id. */
export async function applyTransactions(context: Context, transactions: ObservedTransaction[]): Promise<void> {
  const askedAt = context.clock.now();
  const observations = transactions.map((transaction): Observation => {
    const text = JSON.stringify(transaction, (_, value) => (typeof value === 'bigint' ? String(value) : value));
    return { transaction, askedAt, source: { kind: 'show' }, digest: createHash('sha256').update(text).digest() };
  });
  await applyObservations(context, observations);
}

/** Returns the same transaction with more events. */
export function withLaterEvents(
  transaction: ObservedTransaction,
  history: History,
  facts: Partial<ObservedTransaction> = {},
): ObservedTransaction {
  const events = [...transaction.events, ...history.map(([status, atWall]) => ({ status, atWall }))];
  return { ...transaction, events, status: events.at(-1)?.status ?? transaction.status, ...facts };
}

/** Records that a run has read these days completely. */
export async function recordReadDays(context: Context, from: string, to: string, askedAt: Date): Promise<string> {
  const id = `run_${randomBytes(8).toString('hex')}`;
  const run = await context.db
    .insertInto('runs')
    .values({
      id,
      trigger: 'test',
      state: 'complete',
      from_day: from,
      to_day: to,
      created_at: askedAt,
      created_by: 'test',
    })
    .executeTakeFirstOrThrow();
  await context.db
    .insertInto('run_windows')
    .values({ run_seq: Number(run.insertId), from_day: from, to_day: to, state: 'complete', asked_at: askedAt })
    .execute();
  return id;
}

/** Generates transactions over some days, many near midnight; the same seed gives the same ones. */
export function generateTransactions(count: number, days: string[], seed: number): ObservedTransaction[] {
  const random = createRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  return Array.from({ length: count }, () => {
    const operation = random() < 0.6 ? 'cashin' : 'cashout';
    const created = instantIn(pick(days), random);
    const history: History = [['pending', wall(created)]];
    let at = created;
    const then = (status: string, hoursMax: number): void => {
      at += Math.ceil(random() * hoursMax * 3600) * 1000;
      history.push([status, wall(at)]);
    };
    if (operation === 'cashout' && random() < 0.3) then('in_process', 1);
    const fate = random();
    if (fate < 0.7) then('paid', 20);
    else if (fate < 0.85) then(pick(['denied', 'canceled', 'expired']), 20);
    if (history.at(-1)?.[0] === 'paid' && random() < 0.15) then('refund', 30);
    const amount = BigInt(Math.ceil(random() * 500_000));
    return transactionOf(operation, amount, history, {
      platform: random() < 0.7 ? PLATFORM_A : PLATFORM_B,
      commissionCents: BigInt(Math.floor(random() * 300)),
    });
  });
}

function instantIn(day: string, random: () => number): number {
  const start = Date.parse(`${day}T00:00:00Z`);
  if (random() < 0.2) return start + 86_400_000 - Math.ceil(random() * 1800) * 1000;
  return start + Math.floor(random() * 86_400) * 1000;
}

function wall(asIfUtc: number): string {
  return new Date(asIfUtc).toISOString().slice(0, 19).replace('T', ' ');
}
