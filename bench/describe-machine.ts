import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';

const BYTES_A_GIB = 2 ** 30;

/** One line: the commit, the processor, the memory, and the versions of what is measured. */
export function describeMachine(): string {
  const [cpu] = cpus();
  const commit = ask('git', 'describe', '--always', '--dirty');
  const database = /\d+\.\d+\.\d+[-\w]*/.exec(ask('mariadbd', '--version'))?.[0] ?? 'unknown';
  const gib = Math.round(totalmem() / BYTES_A_GIB);
  return `${commit}, ${cpus().length} × ${cpu?.model.trim()}, ${gib} GiB, Node ${process.versions.node}, MariaDB ${database}`;
}

function ask(command: string, ...args: string[]): string {
  try {
    return execFileSync(command, args, { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}
