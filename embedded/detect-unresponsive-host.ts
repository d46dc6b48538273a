import type { Socket } from 'node:net';
import type { PoolConnection } from 'mysql2';
import { interceptStatements } from './intercept-statements.ts';

/** A statement that has no answer after so long has its host asked whether it still answers anybody. */
const SILENT_MS = 10_000;
const LOOK_EVERY_MS = 2_000;
/** A host that is asked answers within so long. */
export const PROBE_TIMEOUT_MS = 5_000;
/** What is told so long after that was told late: our own thread was busy, and has not read what the host may have sent. */
const GREETING_LATE_MS = 1_000;
/** One alone may be a lost packet, or a server that is started again. */
const FAILURES_IN_A_ROW = 2;
const AWAY_CODES = new Set(['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ECONNREFUSED']);

/** Connects anew to a host, and hangs up; tells why it could not. */
export type Probe = (callback: (error: NodeJS.ErrnoException | null) => void) => void;

/**
 * Ends what waits for a host that no longer answers: one that lost its power, was cut off or hangs sends nothing that
 * would end a connection, and a statement would wait for it for a quarter of an hour, or for ever. A host that greets,
 * or fails in another way than not to be there, is only slow, and is waited for.
 */
export function detectUnresponsiveHost(
  greet: Probe,
  onSilence: () => void,
  now: () => number,
): { watch(connection: PoolConnection): void; stop(): void } {
  const waiting = new Map<PoolConnection, number>();
  let isAsking = false;
  let failures = 0;
  const look = (): void => {
    // what was given up by its asker is never answered
    for (const connection of waiting.keys()) if (socketOf(connection).writableEnded) waiting.delete(connection);
    const late = [...waiting].filter(([, sinceMs]) => now() - sinceMs >= SILENT_MS);
    if (late.length === 0) failures = 0;
    if (isAsking || late.length === 0) return;
    isAsking = true;
    const startedMs = now();
    greet((error) => {
      isAsking = false;
      if (!AWAY_CODES.has(error?.code ?? '')) {
        failures = 0;
        // asked again once they have waited for as long again
        for (const [connection] of late) if (waiting.has(connection)) waiting.set(connection, now());
        return;
      }
      // it is asked again at the next look
      if (now() - startedMs > PROBE_TIMEOUT_MS + GREETING_LATE_MS || ++failures < FAILURES_IN_A_ROW) return;
      failures = 0;
      onSilence();
      for (const [connection, sinceMs] of late) if (waiting.get(connection) === sinceMs) abortConnection(connection);
    });
  };
  const looking = setInterval(look, LOOK_EVERY_MS).unref();
  return {
    watch(connection) {
      let asked = 0;
      interceptStatements(connection, {
        asked() {
          if (asked++ === 0) waiting.set(connection, now());
        },
        answered() {
          if (--asked === 0) waiting.delete(connection);
          else waiting.set(connection, now());
        },
      });
    },
    stop: () => clearInterval(looking),
  };
}

/** Tells all that waits on a connection that it was lost. */
export function abortConnection(connection: PoolConnection): void {
  const lost = Object.assign(new Error('the database host does not answer'), { code: 'PROTOCOL_CONNECTION_LOST' });
  // mysql2 tells everything that waits on it of its stream's error
  socketOf(connection).destroy(lost);
}

export function socketOf(connection: PoolConnection): Socket {
  // mysql2's types hide the socket, and its own destroy() tells nothing to what waits
  return (connection as unknown as { stream: Socket }).stream;
}
