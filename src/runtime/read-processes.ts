import type { Reader } from '../database/reader.ts';

export type LiveProcess = {
  /** `host:pid:…` */
  holder: string;
  host: string;
  seen_at: Date;
  /** Loops and disks, each with its last sign of life; `shortBytes`: what is free of a disk that is nearly full. */
  parts: { part: string; seenAt: Date; shortBytes: number | null }[];
};

/** Reads the processes that showed life since an instant, the newest sign first. */
export async function readProcesses(db: Reader, since: Date): Promise<LiveProcess[]> {
  const rows = await db.selectFrom('heartbeats').selectAll().where('seen_at', '>=', since).orderBy('part').execute();
  const processes = new Map<string, LiveProcess>();
  for (const { part, holder, host, seen_at, short_bytes } of rows) {
    const one = processes.get(holder) ?? { holder, host, seen_at, parts: [] };
    one.parts.push({ part, seenAt: seen_at, shortBytes: short_bytes });
    if (seen_at > one.seen_at) one.seen_at = seen_at;
    processes.set(holder, one);
  }
  return [...processes.values()].toSorted((a, b) => b.seen_at.getTime() - a.seen_at.getTime());
}
