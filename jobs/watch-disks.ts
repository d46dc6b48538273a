import { statfs } from 'node:fs/promises';
import { syncAlerts } from '../src/alerts/raise-alerts.ts';
import type { Context } from '../src/context.ts';
import { recordHeartbeat } from '../src/runtime/heartbeat.ts';
import { createWakeSignal, runWorkerLoop } from '../src/runtime/wake-signal.ts';

const MEASURE_EVERY_MS = 60_000;
/** Older measurements are of processes that have ended. */
const MEASURED_MS_MAX = 3 * MEASURE_EVERY_MS;
const MIB_BYTES = 1024 ** 2;

/**
 * Measures the disks of DATA_DIR and SPOOL_DIR each minute until the signal. One alert names all disks, of any process, that
 * have less than DISK_FREE_MIN free.
 */
export async function watchDisks(context: Context): Promise<void> {
  await runWorkerLoop({
    ...{ name: 'disks', wakeUp: createWakeSignal(context.timers), idleMs: MEASURE_EVERY_MS, context },
    async work() {
      await measureDisks(context);
      await alertDisks(context);
      return false;
    },
  });
}

async function measureDisks(context: Context): Promise<void> {
  const { DATA_DIR, SPOOL_DIR, DISK_FREE_MIN } = context.config;
  for (const [part, directory] of Object.entries({ DATA_DIR, SPOOL_DIR })) {
    // a directory that was never written to does not exist yet
    const disk = directory === undefined ? undefined : await statfs(directory).catch(() => undefined);
    if (!disk) continue;
    const freeBytes = disk.bavail * disk.bsize;
    await recordHeartbeat(context, part as 'DATA_DIR' | 'SPOOL_DIR', freeBytes < DISK_FREE_MIN ? freeBytes : null);
  }
}

async function alertDisks(context: Context): Promise<void> {
  const rows = await context.db
    .selectFrom('heartbeats')
    .select(['part', 'host', (eb) => eb.fn.min('short_bytes').as('bytes')])
    .where('short_bytes', 'is not', null)
    .where('seen_at', '>', new Date(context.clock.now().getTime() - MEASURED_MS_MAX))
    .groupBy(['host', 'part'])
    .execute();
  const list = rows.map((row) => `${row.part} of ${row.host} has ${Math.floor(Number(row.bytes) / MIB_BYTES)} MiB`);
  const summary = `disk_full: nearly: ${list.join(', ')} free`.slice(0, 500);
  await syncAlerts(context, 'disk_full', list.length === 0 ? [] : [{ scope: 'disks', severity: 'critical', summary }]);
}
