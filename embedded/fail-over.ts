import type { PoolConnection } from 'mysql2';
import { detectUnresponsiveHost, type Probe } from './detect-unresponsive-host.ts';
import { checkServerReady, type Refusal, watchRefusals } from './watch-refusals.ts';

/** A host that could not be used is asked again after so long, by one caller; the others go past it meanwhile. */
const ASK_AGAIN_MS = 15_000;

type OnConnection = (error: NodeJS.ErrnoException | null, connection: PoolConnection) => void;

/** What Kysely and our own callers need of a pool. */
export type ConnectionPool = {
  getConnection(callback: OnConnection): void;
  end(callback: (error: NodeJS.ErrnoException | null) => void): void;
};

export type HostPool = ConnectionPool & { probe: Probe };

type Host = {
  pool: HostPool;
  askAgainAtMs: number;
  refusal: Refusal | undefined;
  silence: ReturnType<typeof detectUnresponsiveHost>;
};

/**
 * One pool out of several, a host each: connections come from the first host that can be connected and would take a
 * transaction, in the order given, so that all processes write to the same one. While it is away, cut off from its
 * cluster, read-only or silent, they come from the next; once it is back, new ones come from it again. What was under way on
 * a connection that breaks or is refused fails, and is run again by whoever runs transactions.
 */
export function createFailOverPool(pools: HostPool[], now: () => number = () => performance.now()): ConnectionPool {
  const hosts = pools.map((pool): Host => {
    const silence = detectUnresponsiveHost(pool.probe, () => putOff(host, now()), now);
    const host: Host = { pool, askAgainAtMs: 0, refusal: undefined, silence };
    return host;
  });
  const known = new WeakSet<PoolConnection>();
  return {
    getConnection(callback) {
      const startedMs = now();
      const [up, down] = [true, false].map((isUp) => hosts.filter((host) => host.askAgainAtMs <= startedMs === isUp));
      const inTurn = [...(up ?? []), ...(down ?? [])];
      let firstError: NodeJS.ErrnoException | undefined;
      const ask = (index: number): void => {
        const host = inTurn[index];
        if (!host) {
          callback(firstError ?? new Error('no database host is named'), undefined as never);
          return;
        }
        const isDoubted = host.askAgainAtMs > 0;
        // others go past it while one caller finds out whether it is back
        if (isDoubted) putOff(host, now());
        openReady(host, { isDoubted, known, now }, (error, connection) => {
          if (error) {
            putOff(host, now());
            firstError ??= error;
            ask(index + 1);
            return;
          }
          if (isDoubted) Object.assign(host, { askAgainAtMs: 0, refusal: undefined });
          callback(null, connection);
        });
      };
      ask(0);
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

function putOff(host: Host, nowMs: number): void {
  host.askAgainAtMs = nowMs + ASK_AGAIN_MS;
}

/** A connection that is new, or whose host was of no use before, is handed out once its server would take a transaction. */
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
        putOff(host, now());
      });
    }
    checkServerReady(connection, host.refusal, (error) => {
      if (error) connection.destroy();
      callback(error, connection);
    });
  });
}
