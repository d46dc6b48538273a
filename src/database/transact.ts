import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import type { Database } from './tables.ts';

const ATTEMPTS_MAX = 8;
const BACKOFF_BASE_MS = 5;
const BACKOFF_MAX_MS = 400;

/** Galera's, from a node that is cut off from its cluster while it commits. */
const COMMIT_FAILED_ERRNO = 1180;
/**
 * Deadlock, lock wait time-out, MariaDB's changed row; Galera's node that is not ready, a server that became read-only:
 * their connection was closed, and the next one may be another host's.
 */
const RETRIED_ERRNOS = new Set([1213, 1205, 1020, COMMIT_FAILED_ERRNO, 1047, 1290, 1836]);
const LOST_CODES = new Set(['PROTOCOL_CONNECTION_LOST', 'ECONNRESET', 'EPIPE', 'ER_SERVER_SHUTDOWN']);
/** Interrupted, out of time (MariaDB's, MySQL's), out of disk, table full, no memory for locks. */
const SERVERS_OWN_ERRNOS = new Set([1317, 1969, 3024, 1021, 1114, 1206]);
/** Too many prepared statements; one that is to be prepared again; one that the server does not know. */
const UNPREPARED_ERRNOS = new Set([1461, 1615, 1243]);
const DUPLICATE_ERRNO = 1062;
const TOO_LARGE_ERRNO = 1153;

/**
 * Runs `work` in one transaction, and again as a whole when the database asks for it. A connection that is lost during
 * COMMIT leaves the outcome unknown, and is run again too: so `work` must find what an earlier try may have written.
 * Within a transaction (`db` is one) `work` joins it, and who opened that one runs all of it again.
 * @param work is told whether an earlier try of it may have been committed.
 * @param options.retryDuplicates also run again on a duplicate key: another writer was quicker, and now is visible.
 */
export async function transact<T>(
  db: Kysely<Database>,
  work: (trx: Transaction<Database>, mayBeDone: boolean) => Promise<T>,
  options: { retryDuplicates?: boolean } = {},
): Promise<T> {
  if (db.isTransaction) return await work(db as Transaction<Database>, false);
  let mayBeDone = false;
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute((trx) => work(trx, mayBeDone));
    } catch (error) {
      mayBeDone ||= isOutcomeUnknown(error);
      const again = isTransient(error) || (options.retryDuplicates === true && isDuplicateKey(error));
      if (!again || attempt >= ATTEMPTS_MAX) throw error;
      const ceiling = Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** attempt);
      await sleep(ceiling / 2 + (Math.random() * ceiling) / 2);
    }
  }
}

export function isTransient(error: unknown): boolean {
  return isOutcomeUnknown(error) || RETRIED_ERRNOS.has((error as { errno?: number } | undefined)?.errno ?? 0);
}

/** The server's own trouble: it says nothing about what was written. */
export function isServerError(error: unknown): boolean {
  return SERVERS_OWN_ERRNOS.has((error as { errno?: number } | undefined)?.errno ?? 0);
}

/** A prepared statement was not run at all: as text it may be. */
export function isPrepareError(error: unknown): boolean {
  return UNPREPARED_ERRNOS.has((error as { errno?: number } | undefined)?.errno ?? 0);
}

/** Whether a connection went away, or a node from its cluster, under a statement: then it may have been done or not. */
export function isOutcomeUnknown(error: unknown): boolean {
  const { errno, code, fatal } = (error ?? {}) as { errno?: number; code?: string; fatal?: boolean };
  // mysql2's error for a connection that is closed already: a ROLLBACK on it hides the one that closed it
  const isClosed = fatal === true && errno === undefined && code === undefined;
  return isClosed || errno === COMMIT_FAILED_ERRNO || LOST_CODES.has(code ?? '');
}

/** More than the server's max_allowed_packet; it may also just hang up. */
export function isPacketTooLarge(error: unknown): boolean {
  return (error as { errno?: number } | undefined)?.errno === TOO_LARGE_ERRNO;
}

export function isDuplicateKey(error: unknown): boolean {
  return (error as { errno?: number } | undefined)?.errno === DUPLICATE_ERRNO;
}
