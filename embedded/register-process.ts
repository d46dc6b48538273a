import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identifyProcess, isRunning } from './identify-process.ts';

const LOCK_WAIT_MS = 60_000;
const LOCK_POLL_MS = 25;

/**
 * Who uses the server of a data directory: one file a process under `members/`. What a killed process left behind is
 * told by its start time and does not count. `serve` is also the one holder of `serve.lock`.
 */
export function registerProcess(directory: string): { others: () => number; leave: () => void } {
  const members = path.join(directory, 'members');
  mkdirSync(members, { recursive: true });
  const own = path.join(members, `${process.pid}-${counter++}`);
  writeFileSync(own, ownIdentity());
  return {
    others: () => readdirSync(members).filter((name) => isOther(path.join(members, name), own)).length,
    leave: () => rmSync(own, { force: true }),
  };
}

let counter = 0;

/** Runs `work` while no other process does so in this directory; a lock whose holder is gone is taken over. */
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
 * Takes a lock file for the life of this process.
 * @returns a function that gives it back, or undefined when another living process holds it.
 */
export function acquireLock(file: string): (() => void) | undefined {
  const draft = `${file}.${process.pid}.${counter++}`;
  // written whole before it gets its name, so that nobody ever reads half an identity
  writeFileSync(draft, ownIdentity());
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

/** Moves a dead holder's file away; what was moved in its place by a quicker process goes back. */
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
