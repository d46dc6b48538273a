import type { PoolConnection } from 'mysql2';
import { detectUnresponsiveHost, type EndIdleSessions, type Probe } from './detect-unresponsive-host.ts';
import { checkServerReady, type Refusal, watchRefusals } from './watch-refusals.ts';

/** A host that could not be used is tried again after this time by one caller, while the others skip it. */
export const RETRY_MS = 15_000;

/** A host that is tried must accept a transaction within this time: an idle connection to a host that hangs gives no answer. */
export const TRY_MS_MAX = 2_000;

type OnConnection = (error: NodeJS.ErrnoException | null, connection: PoolConnection) => void;

/** The part of a mysql2 pool that Kysely and our own callers use. */
export type ConnectionPool = {
  getConnection(callback: OnConnection): void;
  end(callback: (error: NodeJS.ErrnoException | null) => void): void;
  /** Probes the host that connections come from. */
  probe: Probe;
};

export type HostPool = ConnectionPool & { name: string; endIdle?: EndIdleSessions };

/** The host that all processes have agreed to use first, by name; the pools of a process share it. */
export type HostChoice = { agreed: string | undefined };

export type FailOverPool = ConnectionPool & {
  /** The host that gave the last connection, by name. */
  hostInUse(): string | undefined;
  /** Tries a host now, for at most 2 s, also one that is skipped for a while. False for a name that is not in the list. */
  canUse(name: string): Promise<boolean>;
};

type Host = {
  name: string;
  pool: HostPool;
  retryAtMs: number;
  refusal: Refusal | undefined;
  silence: ReturnType<typeof detectUnresponsiveHost>;
};

/**
 * One pool over several pools of one host each. A connection comes from the agreed host, or while there is none from the
 * first host in the given order, that accepts a connection and a transaction, so that all processes write to the same host.
 * While that host is unreachable, cut off from its cluster, read-only or silent, connections come from the next one. Once it
 * is back, new connections come from it again. A statement on a connection that breaks or is refused fails; the caller runs
 * its transaction again.
 */
export function createFailOverPool(
  pools: HostPool[],
  choice: HostChoice = { agreed: undefined },
  now: () => number = () => performance.now(),
): FailOverPool {
  const hosts = pools.map((pool): Host => {
    const silence = detectUnresponsiveHost(pool.probe, () => markUnavailable(host, now()), now, pool.endIdle);
    const host: Host = { name: pool.name, pool, retryAtMs: 0, refusal: undefined, silence };
    return host;
  });
  const checked: Checked = { known: new WeakSet(), now };
  let inUse: string | undefined;

  /** Hosts that are not skipped first, and among these the agreed one. */
  function inOrder(): Host[] {
    const nowMs = now();
    const rank = (host: Host): number => (host.retryAtMs <= nowMs ? 0 : 2) + (host.name === choice.agreed ? 0 : 1);
    return hosts.toSorted((one, other) => rank(one) - rank(other));
  }

  return {
    hostInUse: () => inUse,
    canUse: (name) =>
      new Promise((resolve) => {
        const host = hosts.find((one) => one.name === name);
        if (!host) return resolve(false);
        const late = setTimeout(() => resolve(false), TRY_MS_MAX);
        takeReady(host, checked, (error, connection) => {
          clearTimeout(late);
          if (!error) connection.release();
          resolve(!error);
        });
      }),
    getConnection(callback) {
      const ordered = inOrder();
      let firstError: NodeJS.ErrnoException | undefined;
      const tryHost = (index: number): void => {
        const host = ordered[index];
        if (!host) {
          callback(firstError ?? new Error('no database host is named'), undefined as never);
          return;
        }
        takeReady(host, checked, (error, connection) => {
          if (error) {
            firstError ??= error;
            tryHost(index + 1);
            return;
          }
          inUse = host.name;
          callback(null, connection);
        });
      };
      tryHost(0);
    },
    probe(callback, msMax) {
      const host = hosts.find(({ name }) => name === inUse) ?? inOrder()[0];
      if (host) host.pool.probe(callback, msMax);
      else callback(null);
    },
    end: (callback) => endAll(hosts, callback),
  };
}

function endAll(hosts: Host[], callback: (error: NodeJS.ErrnoException | null) => void): void {
  let left = hosts.length;
  let failure: NodeJS.ErrnoException | null = null;
  for (const { pool, silence } of hosts) {
    silence.stop();
    pool.end((error) => {
      failure ??= error;
      if (--left === 0) callback(failure);
    });
  }
}

function markUnavailable(host: Host, nowMs: number): void {
  host.retryAtMs = nowMs + RETRY_MS;
}

/** Connections whose server was checked once, and the clock. */
type Checked = { known: WeakSet<PoolConnection>; now: () => number };

/** Takes a connection of a host. A host that gives none is skipped for a while; one that gives one again is not. */
function takeReady(host: Host, checked: Checked, callback: OnConnection): void {
  const isDoubted = host.retryAtMs > 0;
  // other callers skip it while this one tries it
  if (isDoubted) markUnavailable(host, checked.now());
  openReady(host, { ...checked, isDoubted }, (error, connection) => {
    if (error) markUnavailable(host, checked.now());
    else if (isDoubted) Object.assign(host, { retryAtMs: 0, refusal: undefined });
    callback(error, connection);
  });
}

/** Checks a new connection, or one of a host that was unavailable: its server must accept a transaction. */
function openReady(
  host: Host,
  { isDoubted, known, now }: Checked & { isDoubted: boolean },
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
