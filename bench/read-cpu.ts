import { readFileSync } from 'node:fs';

const TICK_US = 10_000;

/** Returns the CPU time of a process with all its threads, in microseconds (Linux counts hundredths of a second). */
export function readCpuUs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // the name before may contain blanks and brackets
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}
