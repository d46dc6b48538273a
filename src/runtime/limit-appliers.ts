import type { Kysely } from 'kysely';
import type { Database } from '../database/tables.ts';
import { createSemaphore, type Semaphore } from './semaphore.ts';

/**
 * How many appliers of one pool may be in a transaction at once. Each holds a connection and may need a second one, to
 * create a new account outside of its transaction. Without this limit they can hold all 20 connections of a pool and wait for
 * each other for ever, as happened once.
 */
const APPLIERS_MAX = 8;

const semaphores = new WeakMap<Kysely<Database>, Semaphore>();

/** Runs `work` once fewer than APPLIERS_MAX appliers of this pool run, in the order of the calls. */
export async function limitAppliers<T>(db: Kysely<Database>, work: () => Promise<T>): Promise<T> {
  const semaphore = semaphores.get(db) ?? createSemaphore(APPLIERS_MAX);
  semaphores.set(db, semaphore);
  return await semaphore(work);
}
