/** Bytes of the tables and of the disks, how they grow a day, and when a disk is full. */
import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { addDays, DAY_MS } from '../domain/calendar.ts';

/** Growth is the mean of this many days, or of those that were measured. */
const GROWTH_DAYS = 30;

export type Directory = 'DATA_DIR' | 'SPOOL_DIR';
export type Disk = { directory: Directory; freeBytes: number; usedBytes: number };
/** `growth`: bytes a day, negative if it shrinks; undefined until a day was measured. */
export type TableSize = { name: string; bytes: number; growth: number | undefined };
export type DiskSize = Disk & {
  growth: number | undefined;
  /** Infinity if it does not grow, or is not known to. */
  fullInDays: number;
};

/** The disks of this process: of DATA_DIR, and of the other directories that are set. */
export async function readDisks(config: Config): Promise<Disk[]> {
  const directories: [Directory, string | undefined][] = [
    ['DATA_DIR', config.DATA_DIR],
    ['SPOOL_DIR', config.SPOOL_DIR],
  ];
  const disks: Disk[] = [];
  for (const [directory, place] of directories) {
    if (place === undefined) continue;
    const disk = await readDisk(path.resolve(place));
    const used = (disk.blocks - disk.bfree) * disk.bsize;
    disks.push({ directory, freeBytes: disk.bavail * disk.bsize, usedBytes: used });
  }
  return disks;
}

/** The disk of a directory, or of the first one above it that exists: it may not have been written to yet. */
async function readDisk(place: string): Promise<StatsFs> {
  for (let directory = place; ; directory = path.dirname(directory)) {
    try {
      return await statfs(directory);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || directory === path.dirname(directory)) throw error;
    }
  }
}

/** Records today's sizes, unless they are recorded: of the tables once, of the disks for each host. */
export async function recordSizes(context: Context): Promise<void> {
  const { db, calendar, clock, config } = context;
  const now = clock.now();
  const today = { day: calendar.dayOf(now), measured_at: now };
  const host = hostname();
  const disks = await readDisks(config);
  const tables = await readTableBytes(db);
  const rows = [
    ...disks.map(({ directory, usedBytes }) => ({ ...today, name: directory, host, bytes: usedBytes })),
    ...tables.map(({ name, bytes }) => ({ ...today, name, host: '', bytes })),
  ];
  await db
    .insertInto('size_days')
    .values(rows)
    // the first one of the day stays
    .onDuplicateKeyUpdate((eb) => ({ name: eb.ref('size_days.name') }))
    .execute();
}

/** The tables, the largest first. */
export async function readTableSizes({
  db,
  calendar,
  clock,
}: Pick<Context, 'db' | 'calendar' | 'clock'>): Promise<TableSize[]> {
  const now = clock.now();
  const firsts = await readFirsts(db, '', addDays(calendar.dayOf(now), -GROWTH_DAYS));
  return (await readTableBytes(db)).map(({ name, bytes }) => ({
    ...{ name, bytes },
    growth: growthPerDay(firsts.get(name), bytes, now),
  }));
}

/** The disks of this process. */
export async function readDiskSizes({ db, config, calendar, clock }: Context): Promise<DiskSize[]> {
  const now = clock.now();
  const firsts = await readFirsts(db, hostname(), addDays(calendar.dayOf(now), -GROWTH_DAYS));
  return (await readDisks(config)).map((disk) => {
    const growth = growthPerDay(firsts.get(disk.directory), disk.usedBytes, now);
    const fullInDays = growth !== undefined && growth > 0 ? disk.freeBytes / growth : Number.POSITIVE_INFINITY;
    return { ...disk, growth, fullInDays };
  });
}

type Measured = { name: string; bytes: number; measured_at: Date };

/** The oldest measurement of each name since a day. */
async function readFirsts(db: Reader, host: string, since: string): Promise<Map<string, Measured>> {
  const rows = await db
    .selectFrom('size_days')
    .innerJoin(
      (eb) =>
        eb
          .selectFrom('size_days')
          .select(['name', (inner) => inner.fn.min('day').as('day')])
          .where('host', '=', host)
          .where('day', '>=', since)
          .groupBy('name')
          .as('firsts'),
      (join) => join.onRef('firsts.name', '=', 'size_days.name').onRef('firsts.day', '=', 'size_days.day'),
    )
    .select(['size_days.name', 'size_days.bytes', 'size_days.measured_at'])
    .where('size_days.host', '=', host)
    .execute();
  return new Map(rows.map((row) => [row.name, row]));
}

function growthPerDay(first: Measured | undefined, bytes: number, now: Date): number | undefined {
  const ms = first ? now.getTime() - first.measured_at.getTime() : 0;
  return first && ms >= DAY_MS ? (bytes - first.bytes) / (ms / DAY_MS) : undefined;
}

/** As the server estimates them: data and indexes. */
async function readTableBytes(db: Reader): Promise<{ name: string; bytes: number }[]> {
  const { rows } = await sql<{ name: string; bytes: number | null }>`
    SELECT TABLE_NAME AS name, DATA_LENGTH + INDEX_LENGTH AS bytes FROM information_schema.TABLES
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' ORDER BY bytes DESC`.execute(db);
  return rows.map(({ name, bytes }) => ({ name, bytes: Number(bytes ?? 0) }));
}
