import { hash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import os from 'node:os';
import { identifyProcess, isRunning } from '../../../embedded/identify-process.ts';

const PLACE_CHARS = 12;
const OWNER = new RegExp(`^(\\d+)-(.+)-([0-9a-f]{${PLACE_CHARS}})$`);

/**
 * Who writes a segment: `<pid>-<start time>-<place>`. A pid says nothing in another container or on another machine, so
 * the place stands for the machine since it was started, and its namespace of pids.
 */
export function nameOwner(): string {
  return `${(identifyProcess(process.pid) ?? `${process.pid}:0`).replace(':', '-')}-${namePlace()}`;
}

/** Whether the process still runs; `unknown` where it would run in a place that can't be seen from here. */
export function checkOwner(owner: string): 'running' | 'gone' | 'unknown' {
  const [, pid, startedAt, place] = OWNER.exec(owner) ?? [];
  if (place !== namePlace()) return 'unknown';
  return isRunning(`${pid}:${startedAt}`) ? 'running' : 'gone';
}

function namePlace(): string {
  const boot = readOr('', () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
  const pids = readOr('', () => readlinkSync('/proc/self/ns/pid'));
  return hash('sha256', [os.hostname(), boot, pids].join('\n'), 'hex').slice(0, PLACE_CHARS);
}

/** Where there is no /proc, the host's name has to do. */
function readOr(otherwise: string, read: () => string): string {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
