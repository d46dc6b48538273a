import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import { describeError } from '../../log.ts';
import { spoolBytes, spoolCutOff, spoolKeptFiles } from '../../metrics/metrics.ts';
import { createWakeSignal, runWorkerLoop } from '../../runtime/wake-signal.ts';
import { countRetainedFiles, RETAINED_KINDS } from '../spool/count-retained-files.ts';
import { redactRetainedFile } from '../spool/redact-retained-files.ts';
import { removeSpoolReport, reportSpool } from '../spool/report-spool.ts';
import type { Spool } from '../spool/spool.ts';
import { splitBatches } from './split-batches.ts';
import { writeSpooled } from './write-spooled.ts';

const IDLE_MS = 1_000;

/**
 * Moves what the spool holds into the inbox, in the order in which it came, as soon as the database takes it: that is
 * also how the receiver learns that the database is back. A segment is removed once all of it is committed. After a
 * crash in between it is read again from its start: what the inbox holds by then is known by its hash.
 */
export async function drainSpool(context: Context, spool: Spool): Promise<void> {
  await runWorkerLoop({
    name: 'spool',
    wakeUp: createWakeSignal(context.timers),
    idleMs: IDLE_MS,
    context,
    work: async () => {
      await drainAll(context, spool).catch(async (error: unknown) => {
        // one that is back takes nothing for a reason of its own, which somebody has to be told
        if (!spool.isDatabaseDown || (await answers(context))) throw error;
        // looked at again in a second, not ever more seldom: webhooks wait for it
        context.log.debug({ error: describeError(error) }, 'the database is still away');
      });
      spoolBytes.set(spool.bytes);
      showKept(spool);
      return false;
    },
  });
  if (spool.isEmpty()) await removeSpoolReport(context, spool.name).catch(() => undefined);
}

/** For as long as they lie there, over restarts: a line in the log is soon gone. */
function showKept(spool: Spool): void {
  const kept = countRetainedFiles(spool.directory);
  for (const kind of RETAINED_KINDS) spoolKeptFiles.set({ kind }, kept[kind]);
}

async function answers(context: Context): Promise<boolean> {
  return await sql`SELECT 1`.execute(context.db).then(
    () => true,
    () => false,
  );
}

async function drainAll(context: Context, spool: Spool): Promise<void> {
  const wasAway = spool.isDatabaseDown;
  // before the segment is closed that is being written: an outage would leave one for each time
  if (wasAway) await sql`SELECT 1`.execute(context.db);
  const names = await spool.claimSegments();
  if (names.length > 0) await reportSpool(context, spool.name, true);
  else if (wasAway) spool.isDatabaseDown = false;
  for (const name of names) await drainSegment(context, spool, name);
  await reportSpool(context, spool.name, !spool.isEmpty());
}

async function drainSegment(context: Context, spool: Spool, name: string): Promise<void> {
  const segment = spool.readSegment(name);
  if (!segment) return;
  const { records, truncatedBytes: cutOffBytes, damagedBytes } = segment;
  if (cutOffBytes > 0) {
    const read = { segment: name, bytes: cutOffBytes };
    context.log.warn(read, 'the spool ends in a record that was cut off while it was written: never answered');
    spoolCutOff.inc();
  }
  for (const batch of splitBatches(records)) {
    const refused = await writeSpooled(context, batch);
    spool.isDatabaseDown = false;
    if (refused.length === 0) continue;
    const file = await spool.storeRefused(refused);
    await redactRetainedFile(context, file);
    context.log.error({ file, webhooks: refused.length }, 'the database refuses webhooks of the spool: kept in a file');
  }
  const kept = await spool.removeSegment(name, segment);
  if (kept) {
    await redactRetainedFile(context, kept);
    const lost = { file: kept, bytes: damagedBytes };
    context.log.error(lost, 'the spool is damaged: webhooks that were answered may stand in what could not be read');
  }
  context.log.info({ segment: name, webhooks: records.length }, 'drained the spool into the inbox');
  context.wakeUps.inbox.notify();
}
