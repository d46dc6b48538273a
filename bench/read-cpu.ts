import { readFileSync } from 'node:fs';

const TICK_US = 10_000;

/** CPU time that a process has used so far, all its threads, in microseconds (Linux counts it in hundredths of a second). */
export function readCpuUs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // the name before may hold blanks and brackets
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}
