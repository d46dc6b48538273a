import type { Kysely } from 'kysely';
import type { Database } from '../database/tables.ts';

/**
 * How many appliers of one pool may be in a transaction at once. Each holds a connection and may ask for a second one,
 * to name a new account outside of it: once all 20 of a pool were held so, all waited for ever.
 */
const APPLIERS_MAX = 8;

type Queue = { running: number; waiting: (() => void)[] };

const queues = new WeakMap<Kysely<Database>, Queue>();

/** Runs `work` once there is room, in the order of asking. */
export async function limitAppliers<T>(db: Kysely<Database>, work: () => Promise<T>): Promise<T> {
  const queue = queues.get(db) ?? { running: 0, waiting: [] };
  queues.set(db, queue);
  if (queue.running < APPLIERS_MAX) queue.running++;
  // whoever leaves hands its place on
  else await new Promise<void>((resolve) => queue.waiting.push(resolve));
  try {
    return await work();
  } finally {
    const next = queue.waiting.shift();
    if (next) next();
    else queue.running--;
  }
}
