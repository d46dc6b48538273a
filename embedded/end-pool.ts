import type { Pool, PoolConnection } from 'mysql2';
import { abortConnection, socketOf } from './detect-unresponsive-host.ts';

/** Time for pending statements of other callers to finish before the pool's connections are destroyed. */
const LAST_ANSWERS_MS = 2_000;

type OnEnd = (error: null) => void;

/**
 * Returns a function that ends a pool: it sends COM_QUIT on each connection. A host that vanished never closes its
 * connections, and mysql2 sends COM_QUIT only after pending statements: after LAST_ANSWERS_MS they are aborted. A connection
 * that fails meanwhile has ended too. No connection keeps the process alive.
 */
export function prepareEnd(pool: Pool): (callback: OnEnd) => void {
  const connections = new Set<PoolConnection>();
  pool.on('connection', (connection) => {
    connections.add(connection);
    socketOf(connection).once('close', () => connections.delete(connection));
  });
  return (callback) => {
    let isEnded = false;
    const end = (): void => {
      if (isEnded) return;
      isEnded = true;
      clearTimeout(late);
      for (const connection of connections) socketOf(connection).unref();
      callback(null);
    };
    const late = setTimeout(() => {
      for (const connection of connections) abortConnection(connection);
      end();
    }, LAST_ANSWERS_MS);
    pool.end(() => end());
  };
}
