import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import { isConnectionLost } from '../../embedded/lost-connection.ts';
import { readRefusal } from '../../embedded/watch-refusals.ts';
import { transactionRetries } from '../metrics/metrics.ts';
import { randomBackoffMs } from '../timers.ts';
import type { Database } from './tables.ts';

const ATTEMPTS_MAX = 8;
const BACKOFF = { firstMs: 10, maxMs: 400 };

/** A member of a group failed at COMMIT: it lost its group (1180 of Galera, 3100), or another transaction came first (3101). */
const COMMIT_FAILED_ERRNOS = new Set([1180, 3100, 3101]);
/** Deadlock, MariaDB's changed row. */
const DEADLOCK_ERRNOS = new Set([1213, 1020]);
/** Lock wait time-out. */
export const LOCK_WAIT_ERRNOS = new Set([1205]);
const RETRIED_ERRNOS = new Set([...DEADLOCK_ERRNOS, ...LOCK_WAIT_ERRNOS]);
/** Interrupted, statement time-out (MariaDB, MySQL), disk full, table full, no memory for locks. */
const SERVER_ERRNOS = new Set([1317, 1969, 3024, 1021, 1114, 1206]);
/** Too many prepared statements; a statement that must be prepared again; a statement that the server does not know. */
const UNPREPARED_ERRNOS = new Set([1461, 1615, 1243]);
const DUPLICATE_ERRNOS = new Set([1062]);
const TOO_LARGE_ERRNOS = new Set([1153]);
/** Truncated data, value out of range, wrong value, row too large. */
const DATA_ERRNOS = new Set([1264, 1292, 1366, 1406, 1118]);

/**
 * Runs `work` in one transaction, and retries it as a whole on a deadlock or another transient error, at most 8 times. If
 * the connection is lost during COMMIT, the outcome is unknown and `work` runs again: it must find what an earlier attempt
 * may have written. If `db` is a transaction already, `work` joins it, and the code that opened it retries.
 * @param work gets whether an earlier attempt may have been committed.
 * @param options.retryDuplicates also retry on a duplicate key: another writer was faster, and its row is visible now.
 * @throws the last error.
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
      transactionRetries.inc({ reason: nameReason(error) });
      await sleep(randomBackoffMs(attempt, BACKOFF));
    }
  }
}

function nameReason(error: unknown): 'deadlock' | 'lock_wait' | 'duplicate' | 'lost' | 'unavailable' {
  if (hasErrno(error, DEADLOCK_ERRNOS)) return 'deadlock';
  if (hasErrno(error, LOCK_WAIT_ERRNOS)) return 'lock_wait';
  if (isDuplicateKey(error)) return 'duplicate';
  return isOutcomeUnknown(error) ? 'lost' : 'unavailable';
}

export function isTransient(error: unknown): boolean {
  // the connection of a refusal was closed: the next one may go to another host
  return isOutcomeUnknown(error) || hasErrno(error, RETRIED_ERRNOS) || readRefusal(error) !== undefined;
}

/** Whether the server failed for reasons of its own, which say nothing about the data of the statement. */
export function isServerError(error: unknown): boolean {
  return hasErrno(error, SERVER_ERRNOS);
}

/** Whether a prepared statement was not run at all. As text it may succeed. */
export function isPrepareError(error: unknown): boolean {
  return hasErrno(error, UNPREPARED_ERRNOS);
}

/** Whether the connection was lost, or a member of a group failed at COMMIT: the statement may have been committed. */
export function isOutcomeUnknown(error: unknown): boolean {
  return isConnectionLost(error) || hasErrno(error, COMMIT_FAILED_ERRNOS);
}

/** Whether a statement exceeds max_allowed_packet. The server may also just close the connection. */
export function isPacketTooLarge(error: unknown): boolean {
  return hasErrno(error, TOO_LARGE_ERRNOS);
}

/** Leaves out a row that another process has inserted. Where the row may not be updated, as in append-only tables, ON DUPLICATE KEY UPDATE is denied. */
export function ignoreDuplicate(error: unknown): void {
  if (!isDuplicateKey(error)) throw error;
}

export function isDuplicateKey(error: unknown): boolean {
  return hasErrno(error, DUPLICATE_ERRNOS);
}

/** Whether the server does not take the data of the statement: an error of a row, not of the database. */
export function isDataError(error: unknown): boolean {
  return hasErrno(error, DATA_ERRNOS);
}

/** Whether the server answered a statement with an error, on a connection that goes on. */
export function isRefused(error: unknown): boolean {
  const { errno, fatal } = (error ?? {}) as { errno?: number; fatal?: boolean };
  return errno !== undefined && fatal !== true && !isConnectionLost(error);
}

/** Whether an error has one of these error numbers of the server. */
export function hasErrno(error: unknown, errnos: ReadonlySet<number>): boolean {
  return errnos.has((error as { errno?: number } | null | undefined)?.errno ?? 0);
}
