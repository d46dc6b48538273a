import type { PoolConnection } from 'mysql2';

/** A host that could not be reached is asked again after so long, by one caller; the others go past it meanwhile. */
const ASK_AGAIN_MS = 15_000;

type OnConnection = (error: NodeJS.ErrnoException | null, connection: PoolConnection) => void;

/** What Kysely and our own callers need of a pool. */
export type Connections = {
  getConnection(callback: OnConnection): void;
  end(callback: (error: NodeJS.ErrnoException | null) => void): void;
};

/**
 * One pool out of several, a host each: connections come from the first host that can be connected, in the order given,
 * so that all processes write to the same one. While it is away they come from the next; once it is back, new ones come
 * from it again. What was under way on a connection that breaks fails, and is run again by whoever runs transactions.
 */
export function failOver(pools: Connections[], now: () => number = () => performance.now()): Connections {
  const hosts = pools.map((pool) => ({ pool, askAgainAtMs: 0 }));
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
        // others go past it while one caller finds out whether it is back
        if (host.askAgainAtMs > 0) host.askAgainAtMs = now() + ASK_AGAIN_MS;
        host.pool.getConnection((error, connection) => {
          host.askAgainAtMs = error ? now() + ASK_AGAIN_MS : 0;
          if (!error) {
            callback(null, connection);
            return;
          }
          firstError ??= error;
          ask(index + 1);
        });
      };
      ask(0);
    },
    end(callback) {
      let left = hosts.length;
      let failure: NodeJS.ErrnoException | null = null;
      for (const { pool } of hosts) {
        pool.end((error) => {
          failure ??= error;
          if (--left === 0) callback(failure);
        });
      }
    },
  };
}
