import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

/** A process told apart from a later one that got the same pid: `<pid>:<start time>`; undefined when it is not running. */
export function identifyProcess(pid: number): string | undefined {
  const startedAt = readStartTime(pid);
  return startedAt === undefined ? undefined : `${pid}:${startedAt}`;
}

/** Whether the process that once was identified so still runs. */
export function isRunning(identity: string): boolean {
  const pid = Number(identity.split(':', 1)[0]);
  return Number.isInteger(pid) && pid > 0 && identifyProcess(pid) === identity;
}

/** The command line of a process, its words parted by spaces; empty when it can't be read. */
export function readCommandLine(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return '';
  }
}

/**
 * Has Linux run a process as batch work, with all its threads and those to come: one that wakes waits for a processor
 * that is free, and takes none from whoever woke it in the middle of his work. Where `chrt` is not there it stays as it is.
 */
export async function runAsBatch(pid: number): Promise<void> {
  await promisify(execFile)('chrt', ['-a', '-b', '-p', '0', String(pid)]).catch(() => undefined);
}

function readStartTime(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux') {
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
    }
    // proc(5): the name, field 2, may hold blanks and parentheses; what follows the last ')' starts at field 3
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop()?.split(' ') ?? [];
    const [state, startTime] = [fields[0], fields[19]];
    return state === 'Z' || state === 'X' ? undefined : startTime;
  } catch {
    return undefined;
  }
}
