import { readFileSync } from 'node:fs';
import type { ConnectionTarget } from './pool.ts';

const DEFAULT_PORT = 3306;

/**
 * Reads the address of a database: `mysql://user:pass@host:port/db?tls=verify|off&ca=FILE`, or `?socket=PATH` in place of the host.
 * TLS is verified unless the server is on this machine or `tls=off` says otherwise.
 * @throws Error that says what is wrong, and never quotes the address: it holds a password.
 */
export function parseDatabaseUrl(text: string): ConnectionTarget & { database: string } {
  if (!URL.canParse(text)) throw new Error('is no address of the form mysql://user:pass@host:port/db');
  const url = new URL(text);
  if (!['mysql:', 'mariadb:'].includes(url.protocol)) throw new Error('must start with mysql://');
  const database = decodeURIComponent(url.pathname.slice(1));
  if (!/^[A-Za-z0-9_$-]+$/.test(database)) throw new Error('must end with the name of a database: …:3306/confere');
  const user = decodeURIComponent(url.username) || 'root';
  const password = decodeURIComponent(url.password);
  const base = { user, database, ...(password ? { password } : {}) };
  const socketPath = url.searchParams.get('socket');
  if (socketPath) return { ...base, socketPath };
  const ssl = readTls(url);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return { ...base, host, port: Number(url.port || DEFAULT_PORT), ...(ssl ? { ssl } : {}) };
}

function readTls(url: URL): { ca?: string; rejectUnauthorized: boolean } | undefined {
  const mode = url.searchParams.get('tls') ?? (isLoopback(url.hostname) ? 'off' : 'verify');
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
  return host === 'localhost' || host === '[::1]' || host.startsWith('127.');
}
