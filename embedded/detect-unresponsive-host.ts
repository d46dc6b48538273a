import type { Socket } from 'node:net';
import type { PoolConnection } from 'mysql2';
import { interceptStatements } from './intercept-statements.ts';

/** A statement without an answer for this long makes us probe its host. */
export const SILENT_MS = 10_000;
const CHECK_EVERY_MS = 2_000;
/** A probed host must greet within this time. */
export const PROBE_TIMEOUT_MS = 5_000;
/** A probe that fails this much later than its timeout proves nothing: our own thread was busy and read no answer. */
const GREETING_LATE_MS = 1_000;
/** A single failed probe may be a lost packet, or a server that restarts. */
const FAILURES_IN_A_ROW = 2;
const AWAY_CODES = new Set(['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ECONNREFUSED']);

/**
 * Opens a connection to a host and closes it. The callback gets the error if that failed.
 * @param msMax how long it may take; default: PROBE_TIMEOUT_MS.
 */
export type Probe = (callback: (error: NodeJS.ErrnoException | null) => void, msMax?: number) => void;

/** Whether a probe failed because nothing answered; any other error is an answer. */
export function isHostAway(error: NodeJS.ErrnoException | null): boolean {
  return AWAY_CODES.has(error?.code ?? '');
}

/**
 * Fails the pending statements of a host that no longer answers. A host that lost power, was cut off or hangs never closes
 * its connections: a statement would wait for a quarter of an hour, or forever. A host that greets a new connection, or
 * fails it with another error than being unreachable, is only slow: its statements keep waiting.
 */
export function detectUnresponsiveHost(
  greet: Probe,
  onSilence: () => void,
  now: () => number,
): { watch(connection: PoolConnection): void; stop(): void } {
  const waiting = new Map<PoolConnection, number>();
  let isProbing = false;
  let failures = 0;
  const check = (): void => {
    // a connection that its caller destroyed gets no answer any more
    for (const connection of waiting.keys()) if (socketOf(connection).writableEnded) waiting.delete(connection);
    const silent = [...waiting].filter(([, sinceMs]) => now() - sinceMs >= SILENT_MS);
    if (silent.length === 0) failures = 0;
    if (isProbing || silent.length === 0) return;
    isProbing = true;
    const startedMs = now();
    greet((error) => {
      isProbing = false;
      if (!isHostAway(error)) {
        failures = 0;
        // probe again after they have waited for SILENT_MS once more
        for (const [connection] of silent) if (waiting.has(connection)) waiting.set(connection, now());
        return;
      }
      // the next check probes it again
      if (now() - startedMs > PROBE_TIMEOUT_MS + GREETING_LATE_MS || ++failures < FAILURES_IN_A_ROW) return;
      failures = 0;
      onSilence();
      for (const [connection, sinceMs] of silent) if (waiting.get(connection) === sinceMs) abortConnection(connection);
    });
  };
  const checks = setInterval(check, CHECK_EVERY_MS).unref();
  return {
    watch(connection) {
      let pending = 0;
      interceptStatements(connection, {
        sent() {
          if (pending++ === 0) waiting.set(connection, now());
        },
        answered() {
          if (--pending === 0) waiting.delete(connection);
          else waiting.set(connection, now());
        },
      });
    },
    stop: () => clearInterval(checks),
  };
}

/** Destroys a connection and fails its pending statements with PROTOCOL_CONNECTION_LOST. */
export function abortConnection(connection: PoolConnection): void {
  const lost = Object.assign(new Error('the database host does not answer'), { code: 'PROTOCOL_CONNECTION_LOST' });
  // mysql2 passes an error of its stream to every pending statement
  socketOf(connection).destroy(lost);
}

export function socketOf(connection: PoolConnection): Socket {
  // cast: mysql2's types hide the socket, and its own destroy() does not fail pending statements
  return (connection as unknown as { stream: Socket }).stream;
}
