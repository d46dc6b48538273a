import type { PoolConnection } from 'mysql2';
import {
  abortConnection,
  detectUnresponsiveHost,
  type EndIdleSessions,
  type Probe,
} from './detect-unresponsive-host.ts';
import { askState } from './server-state.ts';
import { readRefusal, refusalError, watchRefusals } from './watch-refusals.ts';

/** A host that could not be used is tried again after this time by one caller, while the others skip it. */
export const RETRY_MS = 15_000;

/** A host that is tried must say within this time that it takes writes: an idle connection to a host that hangs gives no answer. */
export const TRY_MS_MAX = 2_000;

type OnConnection = (error: NodeJS.ErrnoException | null, connection: PoolConnection) => void;

/** The part of a mysql2 pool that Kysely and our own callers use. */
export type ConnectionPool = {
  getConnection(callback: OnConnection): void;
  end(callback: (error: NodeJS.ErrnoException | null) => void): void;
  /** Probes the host that connections come from. */
  probe: Probe;
};

/** @property isLocal its server is on a Unix socket, which closes when the server is gone. */
export type HostPool = ConnectionPool & { name: string; isLocal?: boolean; endIdle?: EndIdleSessions };

/** Which host is written to. The pools of a process share it, so that all of them work on one. */
export type HostChoice = {
  /** The host that gave the last connection, by name. */
  current: string | undefined;
  /** Hosts that take writes beside the current one, and are another server: they are not moved to. */
  rivals: ReadonlySet<string>;
  /**
   * Hosts that could not be used, until they are: what one pool knows, all know. `isSilent`: it gave no answer. While others are only
   * refused, waiting for it would delay each caller.
   */
  doubts: Map<string, { retryAtMs: number; isSilent: boolean }>;
  /**
   * Hosts that said when they were last asked that they take no writes. Their open connections are asked too: a copy still writes for
   * a user with the privilege to.
   */
  refusing: ReadonlySet<string>;
};

export function createHostChoice(): HostChoice {
  return { current: undefined, rivals: new Set(), doubts: new Map(), refusing: new Set() };
}

type Host = {
  name: string;
  pool: HostPool;
  silence: ReturnType<typeof detectUnresponsiveHost> | undefined;
};

/**
 * One pool over several pools of one host each. A connection comes from the host in use, or from the first one in the given
 * order, that says that it takes writes: a copy, and a member that is cut off from its group, say that they do not. While the
 * host in use is unreachable, silent or refuses writes, connections come from the next one. Nothing moves back by itself. A
 * statement on a connection that breaks or is refused fails; the caller runs its transaction again.
 *
 * A single host is not asked: there is no other, and what takes no writes can still be read.
 */
export function createFailOverPool(
  pools: HostPool[],
  choice: HostChoice = createHostChoice(),
  now: () => number = () => performance.now(),
): ConnectionPool {
  const isAlone = pools.length === 1;
  const hosts = pools.map((pool): Host => {
    const onSilence = (): void => markUnavailable(choice, pool.name, now(), true);
    const silence = pool.isLocal ? undefined : detectUnresponsiveHost(pool.probe, onSilence, now, pool.endIdle);
    return { name: pool.name, pool, silence };
  });
  const checked: Checked = { known: new WeakSet(), now, isAlone, choice };

  /** Hosts that are not skipped first, and among these the one in use; then those that answer. */
  function inOrder(): Host[] {
    const nowMs = now();
    const rank = ({ name }: Host): number => {
      const doubt = choice.doubts.get(name);
      return doubt && doubt.retryAtMs > nowMs ? 2 + Number(doubt.isSilent) : Number(name !== choice.current);
    };
    return hosts
      .filter(({ name }) => name === choice.current || !choice.rivals.has(name))
      .toSorted((one, other) => rank(one) - rank(other));
  }

  const getConnection = (callback: OnConnection): void => {
    const ordered = inOrder();
    const before = choice.current;
    let firstError: NodeJS.ErrnoException | undefined;
    const tryHost = (index: number): void => {
      const host = ordered[index];
      if (!host) {
        callback(firstError ?? new Error('no database host is named'), undefined as never);
        return;
      }
      takeReady(host, checked, (error, connection) => {
        if (error) {
          // a host that answers says more than one that is away
          if (!firstError || (readRefusal(error) && !readRefusal(firstError))) firstError = error;
          tryHost(index + 1);
          return;
        }
        // another caller moved on while this one waited: what it left may lack what was written since
        if (choice.current !== before && choice.current !== host.name) {
          connection.release();
          getConnection(callback);
          return;
        }
        choice.current = host.name;
        callback(null, connection);
      });
    };
    tryHost(0);
  };

  return {
    getConnection,
    probe(callback, msMax) {
      const host = hosts.find(({ name }) => name === choice.current) ?? inOrder()[0];
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
    silence?.stop();
    pool.end((error) => {
      failure ??= error;
      if (--left === 0) callback(failure);
    });
  }
}

function markUnavailable({ doubts }: HostChoice, name: string, nowMs: number, isSilent?: boolean): void {
  doubts.set(name, { retryAtMs: nowMs + RETRY_MS, isSilent: isSilent ?? doubts.get(name)?.isSilent ?? false });
}

/** Connections whose server was asked once, the clock, and whether there is one host only. */
type Checked = { known: WeakSet<PoolConnection>; now: () => number; isAlone: boolean; choice: HostChoice };

/** Takes a connection of a host. A host that gives none is skipped for a while; one that gives one again is not. */
function takeReady(host: Host, checked: Checked, callback: OnConnection): void {
  const { choice, now } = checked;
  const isDoubted = choice.doubts.has(host.name) || choice.refusing.has(host.name);
  // other callers skip it while this one tries it
  if (isDoubted) markUnavailable(choice, host.name, now());
  openReady(host, { ...checked, isDoubted }, (error, connection) => {
    if (error) markUnavailable(choice, host.name, now(), readRefusal(error) === undefined);
    else if (isDoubted) choice.doubts.delete(host.name);
    callback(error, connection);
  });
}

/** Asks the server of a new connection, or of a host that was unavailable, whether it takes writes. */
function openReady(
  host: Host,
  { isDoubted, known, now, isAlone, choice }: Checked & { isDoubted: boolean },
  callback: OnConnection,
): void {
  host.pool.getConnection((unavailable, connection) => {
    if (unavailable) return callback(unavailable, connection);
    const isNew = !known.has(connection);
    if (isNew) {
      known.add(connection);
      host.silence?.watch(connection);
      watchRefusals(connection, () => markUnavailable(choice, host.name, now()));
    }
    if (isAlone || (!isNew && !isDoubted)) return callback(null, connection);
    const late = setTimeout(() => abortConnection(connection), TRY_MS_MAX);
    askState(connection, (error, state) => {
      clearTimeout(late);
      const failure = error ?? (state?.refusal ? refusalError(state.refusal) : null);
      if (failure) connection.destroy();
      callback(failure, connection);
    });
  });
}
