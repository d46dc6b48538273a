import { hash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { identifyProcess, isRunning } from '../../../embedded/identify-process.ts';

const HOST_CHARS = 12;
const OWNER = new RegExp(`^(\\d+)-(.+)-([0-9a-f]{${HOST_CHARS}})$`);

/**
 * Returns the owner of segments of this process: `<pid>-<start time>-<host>`. A pid means nothing in another container or
 * on another machine, so the host part is a hash of the host name, its boot and its pid namespace.
 */
export function nameOwner(): string {
  return `${(identifyProcess(process.pid) ?? `${process.pid}:0`).replace(':', '-')}-${hashHost()}`;
}

/** Returns the name of a spool, under which it reports to the database: the same after a restart. */
export function nameSpool(directory: string): string {
  return hash('sha256', `${os.hostname()}:${path.resolve(directory)}`, 'hex');
}

/** Whether the owner still runs; `unknown` if it belongs to another host or container. */
export function checkOwner(owner: string): 'running' | 'gone' | 'unknown' {
  const [, pid, startedAt, host] = OWNER.exec(owner) ?? [];
  if (host !== hashHost()) return 'unknown';
  return isRunning(`${pid}:${startedAt}`) ? 'running' : 'gone';
}

function hashHost(): string {
  const boot = readOr('', () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
  const pids = readOr('', () => readlinkSync('/proc/self/ns/pid'));
  return hash('sha256', [os.hostname(), boot, pids].join('\n'), 'hex').slice(0, HOST_CHARS);
}

/** Without /proc, the host part is derived from the host name alone. */
function readOr(otherwise: string, read: () => string): string {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
