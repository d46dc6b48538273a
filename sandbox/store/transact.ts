import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, DatabaseTransaction } from './tables.ts';

const ATTEMPTS_MAX = 6;
const RETRYABLE = new Set([1213, 1205, 1020, 1047]); // deadlock, lock wait, record changed, Galera not ready
const DUPLICATE_KEY = 1062;

/** Runs `work` in one database transaction, and repeats it after a deadlock or another transient error. */
export async function transact<T>(db: Database, work: (trx: DatabaseTransaction) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      if (attempt === ATTEMPTS_MAX || !RETRYABLE.has(errnoOf(error))) throw error;
      await sleep(2 ** attempt * 5 * Math.random());
    }
  }
}

/** Returns whether an error is a duplicate of a unique key. */
export function isDuplicateKey(error: unknown): boolean {
  return errnoOf(error) === DUPLICATE_KEY;
}

function errnoOf(error: unknown): number {
  return typeof error === 'object' && error !== null && 'errno' in error ? Number(error.errno) : 0;
}
