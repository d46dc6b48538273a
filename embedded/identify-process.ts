import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { childEnvironment } from './programs/child-environment.ts';

const SCHED_OTHER = '0';
/** chrt stops at a thread that ends while it lists them, so it is repeated. */
const BATCH_TRIES_MAX = 3;
const BATCH_MS_MAX = 1_000;

/** Returns `<pid>:<start time>`, which a later process with the same pid does not have; undefined if it is not running. */
export function identifyProcess(pid: number): string | undefined {
  const startedAt = readStartTime(pid);
  return startedAt === undefined ? undefined : `${pid}:${startedAt}`;
}

/** Returns whether the process with this identity still runs. */
export function isRunning(identity: string): boolean {
  const pid = Number(identity.split(':', 1)[0]);
  return Number.isInteger(pid) && pid > 0 && identifyProcess(pid) === identity;
}

/** Returns the command line of a process, separated by spaces; empty if it can't be read. */
export function readCommandLine(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8', env: childEnvironment() });
  } catch {
    return '';
  }
}

/**
 * Sets Linux's batch policy (`chrt -b`, no privilege needed) for a process, with its current and later threads. A thread
 * that wakes then does not preempt the thread that woke it. A thread that already has another policy keeps it.
 *
 * Without it, each statement to the embedded database preempted its caller, 1,500 times a second on two cores, and left
 * cold caches: a webhook reached its merchant in 32 to 40 ms (p50), with it in 25 to 35 ms (four runs each, alternating).
 * O_DSYNC for the log made no difference outside the noise, and MariaDB 11 gives it another meaning.
 * @returns false if that failed: `chrt` of util-linux is missing, or is not allowed.
 */
export async function setBatchPolicy(pid: number): Promise<boolean> {
  for (let tries = 0; tries < BATCH_TRIES_MAX && readPolicies(pid).includes(SCHED_OTHER); tries++) {
    const limits = { timeout: BATCH_MS_MAX, killSignal: 'SIGKILL', env: childEnvironment() } as const;
    await promisify(execFile)('chrt', ['-a', '-b', '-p', '0', String(pid)], limits).catch(() => undefined);
  }
  return !readPolicies(pid).includes(SCHED_OTHER);
}

/** Returns the scheduling policy of each thread, as sched(7) numbers them; empty without /proc. */
function readPolicies(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => readStat(`${pid}/task/${thread}`)[38] ?? '');
  } catch {
    return [];
  }
}

/** proc(5): the name, field 2, may hold blanks and parentheses; the text after the last ')' starts at field 3. */
function readStat(name: string): string[] {
  return readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').pop()?.split(' ') ?? [];
}

function readStartTime(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux') {
      return (
        execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
          encoding: 'utf8',
          env: childEnvironment(),
        }).trim() || undefined
      );
    }
    const fields = readStat(String(pid));
    const [state, startTime] = [fields[0], fields[19]];
    return state === 'Z' || state === 'X' ? undefined : startTime;
  } catch {
    return undefined;
  }
}
