/** Whether the disks have room, and no archive is left. */

import { listArchivedAudit } from '../access/bring-back-audit.ts';
import type { Context } from '../context.ts';
import type { Message } from '../domain/errors.ts';
import { listArchivedBodies } from '../inbox/manage/bring-back-bodies.ts';
import { readDiskSizes, readDisks, readTableSizes, type TableSize } from '../retention/measure-sizes.ts';
import { failure, message } from '../texts/messages.ts';

/** Time enough to enlarge a disk. */
const FULL_DAYS_MIN = 14;
/** Ten years: it does not grow. */
const FULL_DAYS_SHOWN_MAX = 3_650;
const TABLES_SHOWN_MAX = 8;
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** @throws ConfereError if a disk is full within 14 days. */
export async function checkSizes(context: Context): Promise<Message[]> {
  const tables = await readTableSizes(context);
  const disks = await readDiskSizes(context);
  const size = formatBytes(tables.reduce((sum, table) => sum + table.bytes, 0));
  const measured = tables.flatMap(({ growth }) => growth ?? []);
  const growth = measured.reduce((sum, one) => sum + one, 0);
  const says = [
    measured.length > 0
      ? message('doctor.database_growing', { size, growth: formatBytes(growth) })
      : message('doctor.database_size', { size }),
    ...tables.slice(0, TABLES_SHOWN_MAX).map(describeTable),
    ...disks.map(({ directory: name, freeBytes, fullInDays }) =>
      fullInDays > FULL_DAYS_SHOWN_MAX
        ? message('doctor.disk', { name, free: formatBytes(freeBytes) })
        : message('doctor.disk_filling', { name, free: formatBytes(freeBytes), n: Math.floor(fullInDays) }),
    ),
  ];
  if (disks.some(({ fullInDays }) => fullInDays < FULL_DAYS_MIN)) throw failure('unavailable', says);
  return says;
}

/** @throws ConfereError if a disk has less free than LIMITS.diskFreeBytes. */
export async function checkDisks({ config }: Pick<Context, 'config'>): Promise<Message[]> {
  const disks = await readDisks(config);
  const short = disks.filter(({ freeBytes }) => freeBytes < config.LIMITS.diskFreeBytes);
  const says = (short.length > 0 ? short : disks).map(({ directory: name, freeBytes }) =>
    message('doctor.disk', { name, free: formatBytes(freeBytes) }),
  );
  if (short.length === 0) return says;
  throw failure('unavailable', [
    ...says,
    message('doctor.disk_short', { size: formatBytes(config.LIMITS.diskFreeBytes) }),
  ]);
}

function describeTable({ name, bytes, growth }: TableSize): Message {
  const size = formatBytes(bytes);
  return growth === undefined
    ? message('doctor.table_size', { name, size })
    : message('doctor.table_growing', { name, size, growth: formatBytes(growth) });
}

function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, Math.abs(bytes))) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}

/** @throws ConfereError while a file is left that an earlier version moved rows into. */
export async function checkArchives(context: Context): Promise<Message[]> {
  const audit = await listArchivedAudit(context.db);
  const [first] = audit;
  if (first) throw failure('conflict', message('doctor.audit_archived', { n: audit.length, file: first.file }));
  const bodies = await listArchivedBodies(context);
  if (bodies.size === 0) return [message('doctor.no_archive')];
  const n = [...bodies.values()].reduce((sum, one) => sum + one, 0);
  throw failure('conflict', message('doctor.bodies_archived', { files: bodies.size, n }));
}
