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
/** Between two reports that a spool is empty. */
const REPORT_EMPTY_EVERY_MS = 5_000;

/**
 * Moves spooled webhooks into the inbox, in the order of their arrival, as soon as the database accepts them. This is also
 * how the receiver learns that the database is back. A segment is removed once all of it is committed. After a crash it is
 * read from its start again: arrivals that the inbox has are recognized by hash and instant.
 */
export async function drainSpool(context: Context, spool: Spool): Promise<void> {
  const report = createReport(context, spool);
  await runWorkerLoop({
    name: 'spool',
    wakeUp: createWakeSignal(context.timers),
    idleMs: IDLE_MS,
    context,
    work: async () => {
      await drainAll(context, spool, report).catch(async (error: unknown) => {
        // the database answers but takes nothing: that needs a person, so the loop logs an error
        if (!spool.isDatabaseDown || (await answers(context))) throw error;
        // not thrown: the loop retries in a second, without back-off, as webhooks wait
        context.log.debug({ error: describeError(error) }, 'the database is still unavailable');
      });
      showSpool(spool);
      return false;
    },
  });
  if (spool.isEmpty()) await removeSpoolReport(context, spool.name).catch(() => undefined);
}

/**
 * Sets the gauges of the spool, which are right from the first scrape. A retained file is shown until it is removed, over
 * restarts; a log line is soon gone.
 */
export function showSpool(spool: Spool | undefined): void {
  spoolBytes.set(spool?.bytes ?? 0);
  const counts = spool && countRetainedFiles(spool.directory);
  for (const kind of RETAINED_KINDS) spoolKeptFiles.set({ kind }, counts?.[kind] ?? 0);
}

async function answers(context: Context): Promise<boolean> {
  return await sql`SELECT 1`.execute(context.db).then(
    () => true,
    () => false,
  );
}

type Report = (hasDrained: boolean) => Promise<void>;

/** Returns a function that reports the spool after a round; while it stays empty only every REPORT_EMPTY_EVERY_MS. */
function createReport(context: Context, spool: Spool): Report {
  let notBeforeMs = Number.NEGATIVE_INFINITY;
  return async (hasDrained) => {
    const isEmpty = spool.isEmpty();
    const nowMs = context.timers.monotonicMs();
    if (isEmpty && !hasDrained && nowMs < notBeforeMs) return;
    await reportSpool(context, spool.name, !isEmpty);
    notBeforeMs = isEmpty ? nowMs + REPORT_EMPTY_EVERY_MS : Number.NEGATIVE_INFINITY;
  };
}

async function drainAll(context: Context, spool: Spool, report: Report): Promise<void> {
  const wasDown = spool.isDatabaseDown;
  // checked before the current segment is closed: otherwise each attempt in an outage would leave a segment
  if (wasDown) await sql`SELECT 1`.execute(context.db);
  const names = await spool.claimSegments();
  if (names.length > 0) await reportSpool(context, spool.name, true);
  else if (wasDown) spool.isDatabaseDown = false;
  for (const name of names) await drainSegment(context, spool, name);
  await report(names.length > 0);
}

async function drainSegment(context: Context, spool: Spool, name: string): Promise<void> {
  const segment = spool.readSegment(name);
  if (!segment) return;
  const { records, truncatedBytes, damagedBytes } = segment;
  if (truncatedBytes > 0) {
    const read = { segment: name, bytes: truncatedBytes };
    context.log.warn(read, 'the spool ends in an incomplete record of a crash; it was never answered');
    spoolCutOff.inc();
  }
  for (const batch of splitBatches(records)) {
    const refused = await writeSpooled(context, batch);
    spool.isDatabaseDown = false;
    if (refused.length === 0) continue;
    const file = await spool.storeRefused(refused);
    await redactRetainedFile(context, file);
    context.log.error({ file, webhooks: refused.length }, 'the database refuses spooled webhooks; stored in a file');
  }
  const file = await spool.removeSegment(name, segment);
  if (file) {
    await redactRetainedFile(context, file);
    const lost = { file, bytes: damagedBytes };
    context.log.error(lost, 'a spool segment is damaged; the unreadable part may hold answered webhooks');
  }
  context.log.info({ segment: name, webhooks: records.length }, 'drained the spool into the inbox');
  context.wakeUps.inbox.notify();
}
