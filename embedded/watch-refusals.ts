import type { PoolConnection } from 'mysql2';
import { interceptStatements } from './intercept-statements.ts';
import { isConnectionLost } from './lost-connection.ts';

/** A Galera node that is cut off from its cluster, or has not joined it yet. */
const NOT_READY_ERRNO = 1047;
/** A read-only server: set by an operator or a fail-over (1290), or by InnoDB itself (1836). */
const READ_ONLY_ERRNOS = new Set([1290, 1836]);

export type Refusal = 'not ready' | 'read only';
/** Kysely sends it in lower case, mysql2 in upper case. */
const ROLLBACK = /^rollback$/i;
type Answer = (error: NodeJS.ErrnoException | null) => void;

/**
 * Calls `onRefusal` when the server of a connection refuses a statement, and destroys that connection on release. The
 * server refuses ROLLBACK as well: the transaction stays open, and the next caller's BEGIN would commit its statements. A
 * ROLLBACK that failed for any other reason leaves the same state. A connection that the server is about to close is
 * destroyed too: the next caller would only find that out.
 */
export function watchRefusals(connection: PoolConnection, onRefusal: (refusal: Refusal) => void): void {
  let isUnusable = false;
  interceptStatements(connection, {
    answered(error, text) {
      const refusal = readRefusal(error);
      if (refusal) onRefusal(refusal);
      if (refusal || isConnectionLost(error) || (error && ROLLBACK.test(String(text)))) isUnusable = true;
    },
  });
  const release = connection.release.bind(connection);
  // only on release: destroy() would never answer the statements that are still pending
  connection.release = () => (isUnusable ? connection.destroy() : release());
}

/** Checks that a server accepts a transaction and, if it refused as read-only before, that it is writable again. */
export function checkServerReady(connection: PoolConnection, before: Refusal | undefined, callback: Answer): void {
  // the statements run one after another; the first error is reported
  let failure: NodeJS.ErrnoException | null = null;
  const keep = (error: NodeJS.ErrnoException | null): void => {
    failure ??= error;
  };
  if (before === 'read only') {
    connection.query('SELECT @@global.read_only AS first, @@global.innodb_read_only AS second', (error, rows) => {
      const [row] = (error ? [] : rows) as { first: unknown; second: unknown }[];
      const isReadOnly = [row?.first, row?.second].some((value) => !['0', 'OFF'].includes(String(value)));
      keep(error ?? (isReadOnly ? Object.assign(new Error('the server is read-only'), { errno: 1290 }) : null));
    });
  }
  connection.query('begin', keep);
  connection.query('rollback', (error) => {
    keep(error);
    callback(failure);
  });
}

/** @returns undefined for any other error. */
export function readRefusal(error: unknown): Refusal | undefined {
  const errno = (error as { errno?: number } | null)?.errno ?? 0;
  if (errno === NOT_READY_ERRNO) return 'not ready';
  return READ_ONLY_ERRNOS.has(errno) ? 'read only' : undefined;
}
