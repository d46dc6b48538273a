import type { Context } from '../context.ts';
import type { Reading } from '../metrics/reading.ts';
import { readDiskSizes, readTableSizes } from './measure-sizes.ts';

const DAY_S = 86_400;

/** Sizes of the tables, and how the disks of this process grow. */
export async function readSizeMetrics(context: Context): Promise<Reading[]> {
  const tables = await readTableSizes(context);
  const disks = await readDiskSizes(context);
  return [
    {
      name: 'confere_table_bytes',
      help: 'Bytes of each table with its indexes, as the server estimates them.',
      values: tables.map(({ name, bytes }) => ({ labels: { table: name }, value: bytes })),
    },
    {
      name: 'confere_table_growth_bytes',
      help: 'By how many bytes a table grew a day, over the last 30 days; 0 until a day was measured.',
      values: tables.map(({ name, growth }) => ({ labels: { table: name }, value: growth ?? 0 })),
    },
    {
      name: 'confere_disk_growth_bytes',
      help: 'By how many bytes the use of the disk of a directory grew a day, over the last 30 days; 0 until a day was measured.',
      values: disks.map(({ directory, growth }) => ({ labels: { directory }, value: growth ?? 0 })),
    },
    {
      name: 'confere_disk_full_seconds',
      help: 'Time until the disk of a directory is full if it grows on like that; +Inf if it does not grow.',
      values: disks.map(({ directory, fullInDays }) => ({ labels: { directory }, value: fullInDays * DAY_S })),
    },
  ];
}
