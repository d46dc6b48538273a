import type { Pool, PoolConnection } from 'mysql2';
import { abortConnection, socketOf } from './detect-unresponsive-host.ts';

/** Whoever ends a pool waits for nothing more himself; what others asked of it is answered within so long, or never. */
const LAST_ANSWERS_MS = 2_000;

type OnEnd = (error: NodeJS.ErrnoException | null) => void;

/**
 * How to end a pool: by saying goodbye on each of its connections. A host that vanished never hangs up, and what it owes
 * would be waited for before the goodbye is sent: that is broken off, and no connection keeps the process from its end.
 */
export function prepareEnd(pool: Pool): (callback: OnEnd) => void {
  const connections = new Set<PoolConnection>();
  pool.on('connection', (connection) => {
    connections.add(connection);
    socketOf(connection).once('close', () => connections.delete(connection));
  });
  return (callback) => {
    let isEnded = false;
    const end: OnEnd = (error) => {
      if (isEnded) return;
      isEnded = true;
      clearTimeout(late);
      for (const connection of connections) socketOf(connection).unref();
      callback(error);
    };
    const late = setTimeout(() => {
      for (const connection of connections) abortConnection(connection);
      end(null);
    }, LAST_ANSWERS_MS);
    pool.end(end);
  };
}
