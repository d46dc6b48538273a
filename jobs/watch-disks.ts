import { syncAlerts } from '../src/alerts/raise-alerts.ts';
import type { Context } from '../src/context.ts';
import type { Reading } from '../src/metrics/reading.ts';
import { readDisks, recordSizes } from '../src/retention/measure-sizes.ts';
import { recordHeartbeat } from '../src/runtime/heartbeat.ts';
import { createWakeSignal, runWorkerLoop } from '../src/runtime/wake-signal.ts';
import { summarize } from '../src/texts/alerts/describe-alert.ts';

const MEASURE_EVERY_MS = 60_000;
/** Older measurements are of processes that have ended. */
const MEASURED_MS_MAX = 3 * MEASURE_EVERY_MS;
const MIB_BYTES = 1024 ** 2;

/**
 * Measures the disks of DATA_DIR and SPOOL_DIR each minute until the signal. One alert names all disks, of any
 * process, that have less than 2 GiB free. Once a day it records how full they are, and the sizes of the tables.
 */
export async function watchDisks(context: Context): Promise<void> {
  let recordedOn = '';
  await runWorkerLoop({
    ...{ name: 'disks', wakeUp: createWakeSignal(context.timers), idleMs: MEASURE_EVERY_MS, context },
    async work() {
      await measureDisks(context);
      await alertDisks(context);
      const today = context.calendar.dayOf(context.clock.now());
      if (today !== recordedOn) await recordSizes(context);
      recordedOn = today;
      return false;
    },
  });
}

/** The disks of this process, measured at the scrape. */
export async function readDiskMetrics({ config }: Context): Promise<Reading[]> {
  const disks = await readDisks(config);
  return [
    {
      name: 'confere_disk_free_bytes',
      help: 'Free bytes of the disk of each directory: DATA_DIR, and SPOOL_DIR where it is set.',
      values: disks.map(({ directory, freeBytes }) => ({ labels: { directory }, value: freeBytes })),
    },
    {
      name: 'confere_disk_free_limit_bytes',
      help: 'With fewer free bytes the alert disk_full fires.',
      values: config.LIMITS.diskFreeBytes,
    },
  ];
}

async function measureDisks(context: Context): Promise<void> {
  const { diskFreeBytes } = context.config.LIMITS;
  for (const { directory, freeBytes } of await readDisks(context.config))
    await recordHeartbeat(context, directory, { shortBytes: freeBytes < diskFreeBytes ? freeBytes : null });
}

async function alertDisks(context: Context): Promise<void> {
  // other processes could not write what they measured
  if (!context.writes.isSettled()) return;
  const rows = await context.db
    .selectFrom('heartbeats')
    .select(['part', 'host', (eb) => eb.fn.min('short_bytes').as('bytes'), (eb) => eb.fn.min('holder').as('holder')])
    .where('short_bytes', 'is not', null)
    .where('seen_at', '>', new Date(context.clock.now().getTime() - MEASURED_MS_MAX))
    .groupBy(['host', 'part'])
    .execute();
  const disks = rows.map(({ part, host, holder, bytes }) => ({
    part,
    host,
    holder,
    mib: Math.floor(Number(bytes) / MIB_BYTES),
  }));
  const alert = { scope: 'disks', severity: 'critical' as const, ...summarize('disk_full', { disks }) };
  await syncAlerts(context, 'disk_full', disks.length === 0 ? [] : [alert]);
}
