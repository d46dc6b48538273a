import type { PoolConnection } from 'mysql2';
import { interceptStatements } from './intercept-statements.ts';

/** A Galera node that is cut off from its cluster, or not yet part of it. */
const NOT_READY_ERRNO = 1047;
/** A server that was made read-only: by an operator or a fail-over (1290), or by InnoDB itself (1836). */
const READ_ONLY_ERRNOS = new Set([1290, 1836]);

export type Refusal = 'not ready' | 'read only';
type Answer = (error: NodeJS.ErrnoException | null) => void;

/**
 * Tells when the server of a connection refuses to work, and closes the connection in place of giving it back. Such a
 * server refuses ROLLBACK as well: the transaction stays open, and the BEGIN of whoever got this connection next would
 * commit what there is of it. So would it after a ROLLBACK that failed for any other reason.
 */
export function watchRefusals(connection: PoolConnection, onRefusal: (refusal: Refusal) => void): void {
  let isSpoilt = false;
  interceptStatements(connection, {
    answered(error, text) {
      const refusal = readRefusal(error);
      if (refusal) onRefusal(refusal);
      if (refusal || (error && text === 'rollback')) isSpoilt = true;
    },
  });
  const release = connection.release.bind(connection);
  // not at once: what else was asked of it meanwhile would never be answered
  connection.release = () => (isSpoilt ? connection.destroy() : release());
}

/** Asks whether a server would take a transaction; one that was read-only before, whether it still is. */
export function checkServerReady(connection: PoolConnection, before: Refusal | undefined, callback: Answer): void {
  // each waits for the one before it, and the first that fails is told
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

function readRefusal(error: unknown): Refusal | undefined {
  const errno = (error as { errno?: number } | null)?.errno ?? 0;
  if (errno === NOT_READY_ERRNO) return 'not ready';
  return READ_ONLY_ERRNOS.has(errno) ? 'read only' : undefined;
}
