/** Whether the disks have room, and no archive is left. */

import { listArchivedAudit } from '../access/bring-back-audit.ts';
import type { Context } from '../context.ts';
import { listArchivedBodies } from '../inbox/manage/bring-back-bodies.ts';
import { readDiskSizes, readDisks, readTableSizes } from '../retention/measure-sizes.ts';

/** Time enough to enlarge a disk. */
const FULL_DAYS_MIN = 14;
/** Ten years: it does not grow. */
const FULL_DAYS_SHOWN_MAX = 3_650;
const TABLES_SHOWN_MAX = 8;
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** @throws Error if a disk is full within 14 days. */
export async function checkSizes(context: Context): Promise<string> {
  const tables = await readTableSizes(context);
  const disks = await readDiskSizes(context);
  const bytes = tables.reduce((sum, table) => sum + table.bytes, 0);
  const measured = tables.flatMap(({ growth }) => growth ?? []);
  const growth = measured.length > 0 ? measured.reduce((sum, one) => sum + one, 0) : undefined;
  const says = [
    describeTable('the database', bytes, growth),
    ...tables.slice(0, TABLES_SHOWN_MAX).map((table) => describeTable(table.name, table.bytes, table.growth)),
    ...disks.map(({ directory, freeBytes, fullInDays }) =>
      fullInDays > FULL_DAYS_SHOWN_MAX
        ? `the disk of ${directory} has ${formatBytes(freeBytes)} free`
        : `the disk of ${directory} has ${formatBytes(freeBytes)} free, and is full in ${Math.floor(fullInDays)} days`,
    ),
  ].join('; ');
  if (disks.some(({ fullInDays }) => fullInDays < FULL_DAYS_MIN)) throw new Error(says);
  return says;
}

/** @throws Error if a disk has less free than DISK_FREE_MIN. */
export async function checkDisks({ config }: Pick<Context, 'config'>): Promise<string> {
  const disks = await readDisks(config);
  const short = disks.filter(({ freeBytes }) => freeBytes < config.DISK_FREE_MIN);
  const says = (short.length > 0 ? short : disks).map(
    ({ directory, freeBytes }) => `the disk of ${directory} has ${formatBytes(freeBytes)} free`,
  );
  if (short.length === 0) return says.join('; ');
  throw new Error([...says, `less than DISK_FREE_MIN (${formatBytes(config.DISK_FREE_MIN)})`].join('; '));
}

function describeTable(name: string, bytes: number, growth: number | undefined): string {
  const size = formatBytes(bytes);
  return growth === undefined
    ? `${name} (${size} in all)`
    : `${name} (${size}, growing by ${formatBytes(growth)} a day)`;
}

function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, Math.abs(bytes))) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}

/** @throws Error while a file is left that an earlier version moved rows into. */
export async function checkArchives(context: Context): Promise<string> {
  const audit = await listArchivedAudit(context.db);
  if (audit.length > 0)
    throw new Error(
      `${audit.length} files have rows of the audit, the first is ${audit[0]?.file}: run confere migrate`,
    );
  const bodies = await listArchivedBodies(context);
  if (bodies.size === 0) return 'no archive is left';
  const count = [...bodies.values()].reduce((sum, one) => sum + one, 0);
  throw new Error(
    `${bodies.size} files have ${count} bodies of webhooks: run confere archives restore, or confere archives delete`,
  );
}
