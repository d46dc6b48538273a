import type { Reader } from '../database/reader.ts';
import { WORKER_LOOPS } from './heartbeat.ts';

/** Each process shows life every 10 s. */
const SILENT_MS = 45_000;
/** Silent processes are searched for that long: one that nobody starts again was taken away. */
const LOST_MS_MAX = 3_600_000;

export type LiveProcess = {
  /** `host:pid:…` */
  holder: string;
  host: string;
  seen_at: Date;
  /** Null: of an earlier version. */
  startedAt: Date | null;
  /** When it stopped by itself. */
  stoppedAt: Date | null;
  /** How far the clock of its machine is ahead of the database's, in ms; null: a process of an earlier version. */
  aheadMs: number | null;
  /** Loops and disks, each with its last sign of life; `shortBytes`: what is free of a disk that is nearly full. */
  parts: { part: string; seenAt: Date; shortBytes: number | null }[];
};

/** Reads the processes that showed life since an instant, the newest sign first. */
export async function readProcesses(db: Reader, since: Date): Promise<LiveProcess[]> {
  const rows = await db
    .selectFrom('heartbeats')
    .selectAll()
    .where('seen_at', '>=', since)
    // the migration's, which stands for processes that had none
    .where('part', '!=', 'earlier')
    .orderBy('part')
    .execute();
  const processes = new Map<string, LiveProcess>();
  for (const { part, holder, host, seen_at, short_bytes, ahead_ms, started_at, stopped_at } of rows) {
    const first = { holder, host, seen_at, startedAt: started_at, stoppedAt: null, aheadMs: ahead_ms, parts: [] };
    const one: LiveProcess = processes.get(holder) ?? first;
    one.stoppedAt ??= stopped_at;
    one.parts.push({ part, seenAt: seen_at, shortBytes: short_bytes });
    if (seen_at >= one.seen_at) Object.assign(one, { seen_at, aheadMs: ahead_ms });
    processes.set(holder, one);
  }
  return [...processes.values()].toSorted((a, b) => b.seen_at.getTime() - a.seen_at.getTime());
}

export type ProcessState = 'alive' | 'silent' | 'stopped';

export function stateOf({ seen_at, stoppedAt }: LiveProcess, now: Date): ProcessState {
  if (stoppedAt) return 'stopped';
  return now.getTime() - seen_at.getTime() <= SILENT_MS ? 'alive' : 'silent';
}

/**
 * Reads the processes that fell silent in the last hour, the newest sign first: they did not stop by themselves, and none of their
 * kind (with or without a worker) started after them in their place.
 * @param since nothing before counts: a restored database has the signs of another machine.
 */
export async function readLostProcesses(db: Reader, now: Date, since = new Date(0)): Promise<LiveProcess[]> {
  const from = new Date(Math.max(now.getTime() - LOST_MS_MAX, since.getTime()));
  const processes = await readProcesses(db, from);
  const lost = processes.filter((one) => stateOf(one, now) === 'silent');
  for (const { startedAt, parts } of processes.filter((one) => stateOf(one, now) === 'alive')) {
    const replaced = lost.findLastIndex(
      (one) => startedAt !== null && one.seen_at < startedAt && isWorker(one.parts) === isWorker(parts),
    );
    if (replaced !== -1) lost.splice(replaced, 1);
  }
  return lost;
}

function isWorker(parts: LiveProcess['parts']): boolean {
  return parts.some(({ part }) => WORKER_LOOPS.some((loop) => loop === part));
}
