/** Whether the disks have room, and the archive has its files. */

import { requireAuditMoves } from '../access/archive-audit.ts';
import { archiveDirectory, listArchives } from '../archive/archive-files.ts';
import { readLostArchives } from '../archive/lost-archives.ts';
import type { Context } from '../context.ts';
import { isBodyDue } from '../inbox/archive/archive-bodies.ts';
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

/** @throws Error if files that the database names are not in ARCHIVE_DIR, bodies are due and there is none, or the audit can't be moved. */
export async function checkArchive(context: Context): Promise<string> {
  const { db, config } = context;
  const directory = archiveDirectory(config);
  const bodies = await db.selectFrom('body_archives').select(['file', 'bodies as rows']).orderBy('file').execute();
  const audit = await db.selectFrom('audit_archives').select(['file', 'entries as rows']).orderBy('file').execute();
  const recorded = [...bodies, ...audit];
  if (directory === undefined && (await isBodyDue(context)))
    throw new Error('ARCHIVE_DIR is not set, and webhook bodies older than RETAIN_BODIES stay in the database: set it');
  await requireAuditMoves(context);
  if (directory === undefined && recorded.length === 0)
    return 'ARCHIVE_DIR is not set: webhook bodies stay in the database';
  const present = new Set(directory === undefined ? [] : await listArchives(directory, 'bodies', 'audit'));
  const stated = await readLostArchives(db);
  const missing = recorded.filter(({ file }) => !present.has(file) && !stated.has(file));
  const place = directory ?? 'ARCHIVE_DIR, which is not set';
  if (missing.length > 0)
    throw new Error(`${missing.length} archives are not in ${place}, the first is ${missing[0]?.file}`);
  const count = (files: { rows: number }[]): number => files.reduce((sum, { rows }) => sum + rows, 0);
  const says = `${count(bodies)} webhook bodies and ${count(audit)} rows of the audit in ${recorded.length} files of ${place}`;
  const isLost = ({ file }: { file: string }): boolean => stated.has(file);
  const lost = [bodies.filter(isLost), audit.filter(isLost)] as const;
  if (lost.flat().length === 0) return says;
  return `${says}; of them, ${lost.flat().length} files are stated as lost: ${count(lost[0])} webhook bodies and ${count(lost[1])} rows of the audit`;
}
