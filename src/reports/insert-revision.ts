import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { isDuplicate, transact } from '../database/transact.ts';
import { addDays, type Day } from '../domain/calendar.ts';
import { resolveMismatches } from '../ledger/resolve-mismatches.ts';
import { countBits, type EventWindow, findLateEvents } from './event-window.ts';
import { mailsReports, oweReportMail } from './mail-reports.ts';
import { boundsOf, type ReportPlan } from './plan.ts';
import type { FileFacts } from './publish-files.ts';
import { DIGESTED_FACTS } from './read-facts.ts';
import { readEntriesOfCut } from './read-late.ts';
import { isProven } from './write-summary.ts';

type Written = { digest: Buffer; eventWindow: EventWindow; files: FileFacts[] };

/**
 * Writes down a revision whose files lie ready, and ends the `closed_day_changed` that asked for it.
 * @returns false when another process wrote this revision first.
 */
export async function insertRevision(
  context: Context,
  plan: ReportPlan,
  written: Written & { isScheduled: boolean },
): Promise<boolean> {
  try {
    await transact(context.db, async (trx) => {
      const { insertId } = await trx.insertInto('reports').values(toRow(plan, written)).executeTakeFirstOrThrow();
      const now = context.clock.now();
      if (written.isScheduled && mailsReports(context.config)) await oweReportMail(trx, Number(insertId), now);
      const over = { kind: 'closed_day_changed' as const, scope: plan.day };
      // locked first: whoever tells of a change locks it too, and what they wrote is committed by now
      await trx
        .selectFrom('mismatches')
        .select('seq')
        .where('kind', '=', over.kind)
        .where('scope', '=', over.scope)
        .forUpdate()
        .execute();
      // what was learnt after the cut is not told by this revision: then the next one ends it
      if (await isOvertaken(trx, plan, written.eventWindow)) return;
      await resolveMismatches(trx, [over], 'revised', now);
    });
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}

function toRow(plan: ReportPlan, { digest, files, eventWindow }: Written) {
  const workbook = files.find((file) => file.format === 'xlsx');
  return {
    day: plan.day,
    revision: plan.revision,
    state: plan.state,
    made_at: plan.madeAt,
    proven: isProven(plan) ? 1 : 0,
    proven_run_seq: plan.proof?.runSeq ?? null,
    proven_asked_at: plan.proof?.askedAt ?? null,
    digest,
    sha256: Buffer.from(workbook?.sha256 ?? '', 'hex'),
    files: JSON.stringify(files),
    cut_entry_seq: plan.cut.entrySeq,
    cut_event_seq: plan.cut.eventSeq,
    cut_mismatch_change_seq: plan.cut.mismatchChangeSeq,
    cut_seal_position: plan.cut.position,
    cut_fact_change_seq: plan.cut.factChangeSeq,
    checked_entry_seq: plan.cut.entrySeq,
    checked_event_seq: plan.cut.eventSeq,
    checked_fact_change_seq: plan.cut.factChangeSeq,
    cut_event_window: eventWindow,
    checked_event_count: countBits(eventWindow),
    locale: plan.locale,
    full_documents: plan.fullDocuments ? 1 : 0,
    version: plan.version,
  };
}

/** Whether anything of the day is known by now that the cut does not hold: above its numbers, or come late below them. */
async function isOvertaken(db: Reader, plan: ReportPlan, window: EventWindow): Promise<boolean> {
  const { entrySeq, eventSeq } = plan.cut;
  const { late } = await readEntriesOfCut(db, plan.cut);
  const lateEvents = await findLateEvents(db, eventSeq, window);
  return (
    (await isOfDay(db, plan.day, 'entries', { above: entrySeq, or: late })) ||
    (await isOfDay(db, plan.day, 'events', { above: eventSeq, or: lateEvents })) ||
    (await wasCorrected(db, plan))
  );
}

async function isOfDay(
  db: Reader,
  day: Day,
  table: 'entries' | 'events',
  { above, or }: { above: number; or: readonly number[] },
): Promise<boolean> {
  const { start, end } = boundsOf(day, addDays(day, 1));
  const row = await db
    .selectFrom(table)
    .select('seq')
    .where('at_wall', '>=', start)
    .where('at_wall', '<', end)
    .where((eb) => eb.or([eb('seq', '>', above), ...(or.length > 0 ? [eb('seq', 'in', or)] : [])]))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether a person has corrected something that happened in the day since the cut: not every event has entries. */
async function wasCorrected(db: Reader, { day, cut }: ReportPlan): Promise<boolean> {
  const { start, end } = boundsOf(day, addDays(day, 1));
  const row = await db
    .selectFrom('fact_changes')
    .innerJoin('events', 'events.transaction_seq', 'fact_changes.transaction_seq')
    .select('fact_changes.seq')
    .where('fact_changes.seq', '>', cut.factChangeSeq)
    .where('fact_changes.name', 'in', DIGESTED_FACTS)
    .where('events.at_wall', '>=', start)
    .where('events.at_wall', '<', end)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
