/** A server's state for writes: whether it takes any, and whether its group can commit them. */
import mysql, { type Connection, type ConnectionOptions } from 'mysql2';
import { PROBE_TIMEOUT_MS } from './detect-unresponsive-host.ts';
import type { Refusal } from './watch-refusals.ts';

export type ServerState = {
  /** Names the server, also where two names lead to it. */
  id: string;
  /** Why it can't be written to; undefined if it can. */
  refusal: Refusal | undefined;
  /** Ids of the members of its group, as it sees them; empty: there is no group, or the user may not read them. */
  members: string[];
  /** A node of a Galera cluster: each of them takes writes. */
  isGalera: boolean;
};

/** No state and no error: the server is slow. */
type Asked = (error: NodeJS.ErrnoException | null, state?: ServerState) => void;
type Member = { id: string; state: string };

const READ_ONLY = ['read_only', 'super_read_only', 'innodb_read_only'];
/** MariaDB has no server_uuid. */
const IDENTITY = ['server_uuid', 'server_uid', 'hostname', 'port', 'socket', 'datadir'];
const OTHERS = ['offline_mode', 'wsrep_on', 'group_replication_group_name'];
/** Reads the same on MariaDB and MySQL: a variable that a server does not have is no row. */
export const VARIABLES_QUERY = `SHOW GLOBAL VARIABLES WHERE Variable_name IN ('${[...READ_ONLY, ...IDENTITY, ...OTHERS].join("','")}')`;
export const MEMBERS_QUERY =
  'SELECT MEMBER_ID AS id, MEMBER_STATE AS state FROM performance_schema.replication_group_members';
/** The user lacks SELECT on the members of the group. `confere doctor` says so. */
const DENIED_ERRNO = 1142;

/** Asks a server on an open connection. A member of a group that can't commit answers too; a server that hangs does not. */
export function askState(connection: Pick<Connection, 'query'>, callback: Asked): void {
  connection.query(VARIABLES_QUERY, (error, rows) => {
    if (error) return callback(error);
    // cast: two columns of text
    const variables = new Map((rows as Record<string, string>[]).map((row) => Object.values(row) as [string, string]));
    if (!variables.get('group_replication_group_name')) return callback(null, describeServer(variables, undefined));
    connection.query(MEMBERS_QUERY, (failure, members) => {
      if (failure && failure.errno !== DENIED_ERRNO) return callback(failure);
      callback(null, describeServer(variables, failure ? undefined : (members as Member[])));
    });
  });
}

/** @param members of its group, as this server sees them; undefined if there is none, or the user may not read them. */
export function describeServer(variables: ReadonlyMap<string, string>, members: Member[] | undefined): ServerState {
  const isOn = (name: string): boolean => !['OFF', '0', ''].includes(variables.get(name) ?? 'OFF');
  const isCut = members !== undefined && !canCommit(members, variables.get('server_uuid'));
  const isReadOnly = READ_ONLY.some(isOn);
  return {
    id: variables.get('server_uuid') ?? IDENTITY.map((name) => variables.get(name)).join(' '),
    refusal: isCut || isOn('offline_mode') ? 'not ready' : isReadOnly ? 'read only' : undefined,
    members: (members ?? []).map(({ id }) => id),
    isGalera: isOn('wsrep_on'),
  };
}

/** A member that has not joined, or was expelled, and one that reaches half of the group or less, waits at COMMIT or loses it. */
function canCommit(members: Member[], own: string | undefined): boolean {
  const reached = members.filter(({ state }) => state !== 'UNREACHABLE').length;
  return members.some(({ id, state }) => id === own && state === 'ONLINE') && reached * 2 > members.length;
}

/**
 * Asks a host on a connection of its own. The callback gets the error if it does not greet within `msMax`; no state if it
 * greeted and answered nothing more: it is slow.
 */
export function askHost(options: ConnectionOptions, callback: Asked, msMax = PROBE_TIMEOUT_MS): void {
  const connection = mysql.createConnection({ ...options, connectTimeout: msMax });
  let isSettled = false;
  const settle: Asked = (error, state) => {
    if (isSettled) return;
    isSettled = true;
    clearTimeout(late);
    connection.destroy();
    callback(error, state);
  };
  let hasGreeted = false;
  const late = setTimeout(() => hasGreeted && settle(null), msMax);
  // errors after the first answer do not matter
  connection.on('error', () => undefined);
  connection.connect((error) => {
    if (error) return settle(error);
    hasGreeted = true;
    askState(connection, settle);
  });
}
