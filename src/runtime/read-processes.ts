import type { Reader } from '../database/reader.ts';

export type LiveProcess = {
  /** `host:pid:…` */
  holder: string;
  host: string;
  seen_at: Date;
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
  for (const { part, holder, host, seen_at, short_bytes, ahead_ms } of rows) {
    const one = processes.get(holder) ?? { holder, host, seen_at, aheadMs: ahead_ms, parts: [] };
    one.parts.push({ part, seenAt: seen_at, shortBytes: short_bytes });
    if (seen_at >= one.seen_at) Object.assign(one, { seen_at, aheadMs: ahead_ms });
    processes.set(holder, one);
  }
  return [...processes.values()].toSorted((a, b) => b.seen_at.getTime() - a.seen_at.getTime());
}
