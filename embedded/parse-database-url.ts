import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { ConnectionTarget, DatabaseHost } from './open-database.ts';

const DEFAULT_PORT = 3306;
/** Eight appliers may each need one beside their own, for a new account; the loops need some beside them. */
const CONNECTIONS_MIN = 10;
const CONNECTIONS_MAX = 1_000;
/** `h2`, `h2:3306`, `[::1]:3306`. */
const OTHER_HOST = /^(?:\[([0-9a-fA-F:]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?$/;

/**
 * Parses the address of a database: `mysql://user:pass@host:port/db?hosts=h2:3306,h3:3306&tls=verify|off&ca=FILE&connections=20`, or
 * `?socket=PATH` in place of the host. `connections`: how many the pool of a process may open, 10 to 1,000. `hosts` are used in turn when the first is unavailable. TLS is verified, and the
 * certificate compared with each host that is a name, unless all hosts are on this machine or `tls=off` is given.
 * @throws Error that says what is wrong, without the address: it holds a password.
 */
export function parseDatabaseUrl(text: string): ConnectionTarget & { database: string } {
  if (!URL.canParse(text)) throw new Error('is no address of the form mysql://user:pass@host:port/db');
  const url = new URL(text);
  if (!['mysql:', 'mariadb:'].includes(url.protocol)) throw new Error('must start with mysql://');
  const database = decodeURIComponent(url.pathname.slice(1));
  if (!/^[A-Za-z0-9_$-]+$/.test(database)) throw new Error('must end with the name of a database: …:3306/confere');
  const user = decodeURIComponent(url.username) || 'root';
  const password = decodeURIComponent(url.password);
  const base = { user, database, ...(password ? { password } : {}), ...readConnections(url) };
  const socketPath = url.searchParams.get('socket');
  if (socketPath) return { ...base, socketPath };
  if (url.hostname === '') throw new Error('names neither a host nor a socket: mysql://user:pass@host:port/db');
  const ssl = readTls(url);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const others = readOthers(url);
  const port = Number(url.port || DEFAULT_PORT);
  return { ...base, host, port, ...(ssl ? { ssl } : {}), ...(others.length > 0 ? { others } : {}) };
}

function readConnections(url: URL): { connectionLimit?: number } {
  const text = url.searchParams.get('connections');
  if (text === null) return {};
  const connectionLimit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (connectionLimit >= CONNECTIONS_MIN && connectionLimit <= CONNECTIONS_MAX) return { connectionLimit };
  throw new Error(`takes connections=${CONNECTIONS_MIN} to ${CONNECTIONS_MAX}`);
}

function readOthers(url: URL): DatabaseHost[] {
  const list = url.searchParams.get('hosts');
  if (!list) return [];
  return list.split(',').map((text) => {
    const match = OTHER_HOST.exec(text.trim());
    if (!match) throw new Error('takes hosts=h2:3306,h3:3306: one that was given is no host');
    return { host: match[1] ?? match[2] ?? '', port: Number(match[3] ?? DEFAULT_PORT) };
  });
}

function readTls(url: URL): ConnectionTarget['ssl'] {
  // one host on another machine is enough: others could read that connection
  const hosts = [url.hostname, ...readOthers(url).map(({ host }) => host)];
  const mode = url.searchParams.get('tls') ?? (hosts.every(isLoopback) ? 'off' : 'verify');
  if (mode === 'off') return undefined;
  if (mode !== 'verify') throw new Error('takes tls=verify or tls=off');
  const file = url.searchParams.get('ca');
  try {
    return { rejectUnauthorized: true, ...(file ? { ca: readFileSync(file, 'utf8') } : {}) };
  } catch {
    throw new Error(`names a ca file that can't be read: ${file}`);
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * Returns the hosts whose certificate is checked by its authority alone: mysql2 compares names with a certificate, not IP
 * addresses. Anybody with a certificate of that authority could impersonate them.
 */
export function listHostsWithoutNameCheck(target: ConnectionTarget): string[] {
  if (!('host' in target) || !target.ssl) return [];
  return [target.host, ...(target.others ?? []).map(({ host }) => host)].filter((host) => isIP(host) !== 0);
}
