import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { isDuplicate, transact } from '../database/transact.ts';
import { addDays } from '../domain/calendar.ts';
import { resolveMismatches } from '../ledger/resolve-mismatches.ts';
import { mailsReports, oweReportMail } from './mail-reports.ts';
import { boundsOf, type ReportPlan } from './plan.ts';
import type { FileFacts } from './publish-files.ts';
import { isProven } from './write-summary.ts';

/**
 * Writes down a revision whose files lie ready, and ends the `closed_day_changed` that asked for it.
 * @returns false when another process wrote this revision first.
 */
export async function insertRevision(
  context: Context,
  plan: ReportPlan,
  written: { digest: Buffer; files: FileFacts[]; isScheduled: boolean },
): Promise<boolean> {
  try {
    await transact(context.db, async (trx) => {
      const { insertId } = await trx
        .insertInto('reports')
        .values(toRow(plan, written.digest, written.files))
        .executeTakeFirstOrThrow();
      const now = context.clock.now();
      if (written.isScheduled && mailsReports(context.config)) await oweReportMail(trx, Number(insertId), now);
      // what was learnt after the cut is not told by this revision: then the next one ends it
      if (await isOvertaken(trx, plan)) return;
      const over = [{ kind: 'closed_day_changed' as const, scope: plan.day }];
      await resolveMismatches(trx, over, 'revised', now);
    });
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}

function toRow(plan: ReportPlan, digest: Buffer, files: FileFacts[]) {
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
    locale: plan.locale,
    full_documents: plan.fullDocuments ? 1 : 0,
    version: plan.version,
  };
}

async function isOvertaken(db: Reader, plan: ReportPlan): Promise<boolean> {
  const { start, end } = boundsOf(plan.day, addDays(plan.day, 1));
  for (const [table, top] of [
    ['entries', plan.cut.entrySeq],
    ['events', plan.cut.eventSeq],
  ] as const) {
    const newer = await db
      .selectFrom(table)
      .select('seq')
      .where('seq', '>', top)
      .where('at_wall', '>=', start)
      .where('at_wall', '<', end)
      .limit(1)
      .executeTakeFirst();
    if (newer) return true;
  }
  return false;
}
