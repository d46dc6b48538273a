import { existsSync, linkSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDirectory } from './files/make-directory.ts';
import { writeText } from './files/write-text.ts';
import { identifyProcess, isRunning } from './identify-process.ts';

const LOCK_WAIT_MS = 60_000;
const LOCK_POLL_MS = 25;

/**
 * Registers this process as a user of the server of a data directory: one file per process under `members/`. The file of a
 * killed process does not count, because its start time no longer matches. `serve` also holds `serve.lock`.
 */
export function registerProcess(directory: string): { others: () => number; leave: () => void } {
  const members = path.join(directory, 'members');
  makeDirectory(members);
  const own = path.join(members, `${process.pid}-${counter++}`);
  writeText(own, ownIdentity());
  return {
    others: () => readdirSync(members).filter((name) => isOther(path.join(members, name), own)).length,
    leave: () => rmSync(own, { force: true }),
  };
}

/** Counts the running processes that use the server of a data directory. */
export function countProcesses(directory: string): number {
  const members = path.join(directory, 'members');
  if (!existsSync(members)) return 0;
  return readdirSync(members).filter((name) => isRunning(holder(path.join(members, name)))).length;
}

let counter = 0;

/** Runs `work` under this directory's lock. A lock whose holder is gone is taken over. */
export async function withLock<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const lock = path.join(directory, 'start.lock');
  const deadline = Date.now() + LOCK_WAIT_MS;
  let unlock = acquireLock(lock);
  while (!unlock) {
    if (Date.now() > deadline) throw new Error(`${lock} has been held for ${LOCK_WAIT_MS / 1000} s by ${holder(lock)}`);
    await sleep(LOCK_POLL_MS);
    unlock = acquireLock(lock);
  }
  try {
    return await work();
  } finally {
    unlock();
  }
}

/**
 * Takes a lock file for the lifetime of this process.
 * @returns a function that releases it, or undefined if another running process holds it.
 */
export function acquireLock(file: string): (() => void) | undefined {
  const draft = `${file}.${process.pid}.${counter++}`;
  // written before it gets its name, so that nobody reads half an identity
  writeText(draft, ownIdentity());
  try {
    if (link(draft, file)) return () => rmSync(file, { force: true });
    const held = holder(file);
    if (held !== '' && (isRunning(held) || !removeStale(file, held))) return undefined;
    return link(draft, file) ? () => rmSync(file, { force: true }) : undefined;
  } finally {
    rmSync(draft, { force: true });
  }
}

function link(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes the file of a holder that is gone. If a faster process has already replaced it, puts that file back. */
function removeStale(file: string, held: string): boolean {
  const moved = `${file}.stale.${process.pid}.${counter++}`;
  try {
    renameSync(file, moved);
  } catch {
    return true;
  }
  const stale = holder(moved) === held;
  if (!stale) link(moved, file);
  rmSync(moved, { force: true });
  return stale;
}

function ownIdentity(): string {
  return identifyProcess(process.pid) ?? `${process.pid}:unknown`;
}

function holder(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function isOther(file: string, own: string): boolean {
  if (file === own) return false;
  if (isRunning(holder(file))) return true;
  rmSync(file, { force: true });
  return false;
}
