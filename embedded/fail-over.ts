import type { PoolConnection } from 'mysql2';
import { detectUnresponsiveHost, type Probe } from './detect-unresponsive-host.ts';
import { checkServerReady, type Refusal, watchRefusals } from './watch-refusals.ts';

/** A host that could not be used is tried again after this time by one caller, while the others skip it. */
const RETRY_MS = 15_000;

type OnConnection = (error: NodeJS.ErrnoException | null, connection: PoolConnection) => void;

/** The part of a mysql2 pool that Kysely and our own callers use. */
export type ConnectionPool = {
  getConnection(callback: OnConnection): void;
  end(callback: (error: NodeJS.ErrnoException | null) => void): void;
  /** Probes the host that connections come from. */
  probe: Probe;
};

type Host = {
  pool: ConnectionPool;
  retryAtMs: number;
  refusal: Refusal | undefined;
  silence: ReturnType<typeof detectUnresponsiveHost>;
};

/**
 * One pool over several pools of one host each. A connection comes from the first host, in the given order, that accepts a
 * connection and a transaction, so that all processes write to the same host. While that host is unreachable, cut off from
 * its cluster, read-only or silent, connections come from the next one. Once it is back, new connections come from it
 * again. A statement on a connection that breaks or is refused fails; the caller runs its transaction again.
 */
export function createFailOverPool(
  pools: ConnectionPool[],
  now: () => number = () => performance.now(),
): ConnectionPool {
  const hosts = pools.map((pool): Host => {
    const silence = detectUnresponsiveHost(pool.probe, () => markUnavailable(host, now()), now);
    const host: Host = { pool, retryAtMs: 0, refusal: undefined, silence };
    return host;
  });
  const known = new WeakSet<PoolConnection>();
  return {
    getConnection(callback) {
      const startedMs = now();
      const [up, down] = [true, false].map((isUp) => hosts.filter((host) => host.retryAtMs <= startedMs === isUp));
      const ordered = [...(up ?? []), ...(down ?? [])];
      let firstError: NodeJS.ErrnoException | undefined;
      const tryHost = (index: number): void => {
        const host = ordered[index];
        if (!host) {
          callback(firstError ?? new Error('no database host is named'), undefined as never);
          return;
        }
        const isDoubted = host.retryAtMs > 0;
        // other callers skip it while this one tries it
        if (isDoubted) markUnavailable(host, now());
        openReady(host, { isDoubted, known, now }, (error, connection) => {
          if (error) {
            markUnavailable(host, now());
            firstError ??= error;
            tryHost(index + 1);
            return;
          }
          if (isDoubted) Object.assign(host, { retryAtMs: 0, refusal: undefined });
          callback(null, connection);
        });
      };
      tryHost(0);
    },
    probe(callback, msMax) {
      // a host that was unavailable is not in use until a caller has tried it
      const inUse = hosts.find((host) => host.retryAtMs === 0) ?? hosts[0];
      if (inUse) inUse.pool.probe(callback, msMax);
      else callback(null);
    },
    end(callback) {
      let left = hosts.length;
      let failure: NodeJS.ErrnoException | null = null;
      for (const { pool, silence } of hosts) {
        silence.stop();
        pool.end((error) => {
          failure ??= error;
          if (--left === 0) callback(failure);
        });
      }
    },
  };
}

function markUnavailable(host: Host, nowMs: number): void {
  host.retryAtMs = nowMs + RETRY_MS;
}

/** Checks a new connection, or one of a host that was unavailable: its server must accept a transaction. */
function openReady(
  host: Host,
  { isDoubted, known, now }: { isDoubted: boolean; known: WeakSet<PoolConnection>; now: () => number },
  callback: OnConnection,
): void {
  host.pool.getConnection((unavailable, connection) => {
    if (unavailable) return callback(unavailable, connection);
    const isNew = !known.has(connection);
    if (!isNew && !isDoubted) return callback(null, connection);
    if (isNew) {
      known.add(connection);
      host.silence.watch(connection);
      watchRefusals(connection, (refusal) => {
        host.refusal = refusal;
        markUnavailable(host, now());
      });
    }
    checkServerReady(connection, host.refusal, (error) => {
      if (error) connection.destroy();
      callback(error, connection);
    });
  });
}
