import type { PoolConnection } from 'mysql2';
import { interceptStatements } from './intercept-statements.ts';
import { isConnectionLost } from './lost-connection.ts';

/** `not ready`: cut off from its group, or no member of it yet. `read only`: a copy, or set so by a person. */
export type Refusal = 'not ready' | 'read only';

/**
 * Read-only servers: set by an operator or a fail-over (1290), or by InnoDB itself (1836). Members without their group: at COMMIT
 * (3100), closed to all but administrators (3032), or waiting in vain for what its group committed before (3796 to 3799). A Galera
 * node without its cluster (1047).
 */
const REFUSALS = new Map<number, Refusal>([
  ...([1290, 1836] as const).map((errno) => [errno, 'read only'] as const),
  ...([1047, 3032, 3100, 3796, 3797, 3798, 3799] as const).map((errno) => [errno, 'not ready'] as const),
]);
const ERRORS = {
  'read only': { errno: 1290, code: 'ER_OPTION_PREVENTS_STATEMENT', text: 'the server is read-only' },
  'not ready': { errno: 3032, code: 'ER_SERVER_OFFLINE_MODE', text: 'the server is cut off from its group' },
} as const;
/** Kysely sends it in lower case, mysql2 in upper case. */
const ROLLBACK = /^rollback$/i;

/**
 * Calls `onRefusal` when the server of a connection refuses a statement, and destroys that connection on release. The
 * server may refuse ROLLBACK as well: the transaction stays open, and the next caller's BEGIN would commit its statements. A
 * ROLLBACK that failed for any other reason leaves the same state. A connection that the server is about to close is
 * destroyed too: the next caller would only find that out.
 */
export function watchRefusals(connection: PoolConnection, onRefusal: () => void): void {
  let isUnusable = false;
  interceptStatements(connection, {
    answered(error, text) {
      const isRefused = readRefusal(error) !== undefined;
      if (isRefused) onRefusal();
      if (isRefused || isConnectionLost(error) || (error && ROLLBACK.test(String(text)))) isUnusable = true;
    },
  });
  const release = connection.release.bind(connection);
  // only on release: destroy() would never answer the statements that are still pending
  connection.release = () => (isUnusable ? connection.destroy() : release());
}

/** @returns undefined for any other error. */
export function readRefusal(error: unknown): Refusal | undefined {
  return REFUSALS.get((error as { errno?: number } | null)?.errno ?? 0);
}

/** The error of a server that was asked whether it takes writes, as it would refuse one. */
export function refusalError(refusal: Refusal): NodeJS.ErrnoException {
  const { text, ...error } = ERRORS[refusal];
  return Object.assign(new Error(text), error);
}
