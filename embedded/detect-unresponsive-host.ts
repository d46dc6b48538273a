import type { Socket } from 'node:net';
import type { PoolConnection } from 'mysql2';
import { interceptStatements } from './intercept-statements.ts';
import { readRefusal } from './watch-refusals.ts';

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
 * Opens a connection to a host, asks whether it can commit, and closes it. The callback gets the error if that failed, or the
 * refusal of a host that is cut off from its group.
 * @param msMax how long it may take; default: PROBE_TIMEOUT_MS.
 */
export type Probe = (callback: (error: NodeJS.ErrnoException | null) => void, msMax?: number) => void;

/**
 * Finds the sessions whose server waits for a command, and ends those that `isLost` names: that rolls back their transaction and
 * releases its locks. The callback gets the ids of all that wait; of none if the server could not be asked.
 * @param ids of our own connections (`threadId`).
 */
export type EndIdleSessions = (
  ids: number[],
  isLost: (id: number) => boolean,
  callback: (idle: ReadonlySet<number>) => void,
) => void;

/** Whether a probe failed because nothing answered; any other error is an answer. */
export function isHostAway(error: NodeJS.ErrnoException | null): boolean {
  return AWAY_CODES.has(error?.code ?? '');
}

/**
 * Fails the pending statements of a host that no longer answers. A host that lost power, was cut off or hangs never closes
 * its connections: a statement would wait for a quarter of an hour, or forever. A host that greets a new connection, or
 * fails it with another error than being unreachable, is only slow: its statements keep waiting. A member that is cut off
 * from its group greets, and commits nothing: it is left at once. And a statement whose session waits for a command, twice in a row, is lost: something between us and the host dropped that one connection.
 */
export function detectUnresponsiveHost(
  greet: Probe,
  onSilence: () => void,
  now: () => number,
  endIdle: EndIdleSessions = (_ids, _isLost, callback) => callback(new Set()),
): { watch(connection: PoolConnection): void; stop(): void } {
  const waiting = new Map<PoolConnection, number>();
  /** Connections whose session waited for a command at the last probe. */
  const doubted = new Set<PoolConnection>();
  let isProbing = false;
  let failures = 0;
  const forget = (connection: PoolConnection): void => {
    waiting.delete(connection);
    doubted.delete(connection);
  };
  const check = (): void => {
    // a connection that its caller destroyed gets no answer any more
    for (const connection of waiting.keys()) if (socketOf(connection).writableEnded) forget(connection);
    const silent = [...waiting].filter(([, sinceMs]) => now() - sinceMs >= SILENT_MS);
    if (silent.length === 0) failures = 0;
    if (isProbing || silent.length === 0) return;
    isProbing = true;
    const startedMs = now();
    greet((error) => {
      isProbing = false;
      if (readRefusal(error) === 'not ready') {
        failures = 0;
        onSilence();
        for (const connection of waiting.keys()) abortConnection(connection);
        return;
      }
      if (!isHostAway(error)) {
        failures = 0;
        const pending = silent.map(([connection]) => connection).filter((connection) => waiting.has(connection));
        // probe again after they have waited for SILENT_MS once more
        for (const connection of pending) waiting.set(connection, now());
        if (!error) endLost(pending);
        return;
      }
      // the next check probes it again
      if (now() - startedMs > PROBE_TIMEOUT_MS + GREETING_LATE_MS || ++failures < FAILURES_IN_A_ROW) return;
      failures = 0;
      onSilence();
      for (const [connection, sinceMs] of silent) if (waiting.get(connection) === sinceMs) abortConnection(connection);
    });
  };
  const endLost = (pending: PoolConnection[]): void => {
    const byId = new Map(pending.map((connection) => [connection.threadId, connection]));
    const isLost = (id: number): boolean => {
      const connection = byId.get(id);
      return connection !== undefined && waiting.has(connection) && doubted.has(connection);
    };
    endIdle([...byId.keys()], isLost, (idle) => {
      for (const connection of pending) {
        const isIdle = idle.has(connection.threadId) && waiting.has(connection);
        if (!isIdle) doubted.delete(connection);
        else if (doubted.has(connection)) abortConnection(connection);
        else doubted.add(connection);
      }
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
          doubted.delete(connection);
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
