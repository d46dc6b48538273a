import type { Context } from '../../context.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import { isDuplicateKey, transact } from '../../database/transact.ts';
import { countBits, type EventWindow } from '../plan/read-event-window.ts';
import { isProven, type ReportPlan } from '../plan/report-plan.ts';
import { enqueueReportMail } from './mail-reports.ts';
import { hashOfWorkbook, type ReportFile } from './publish-drafts.ts';
import { resolveChangedDay } from './resolve-changed-day.ts';

/** `figures`: as `collectFigures` returns them. */
type Written = {
  digest: Buffer;
  ordersDigest: Buffer | null;
  eventWindow: EventWindow;
  files: ReportFile[];
  figures: string;
};

/**
 * Inserts a revision whose files are complete, and resolves the day's `closed_day_changed`.
 * @returns false when another process wrote this revision first.
 */
export async function insertRevision(
  context: Context,
  plan: ReportPlan,
  written: Written & { isMailed: boolean },
): Promise<boolean> {
  try {
    await transact(context.db, async (trx) => {
      const { insertId } = await trx.insertInto('reports').values(toRow(plan, written)).executeTakeFirstOrThrow();
      const now = context.clock.now();
      if (written.isMailed) await enqueueReportMail(trx, requireRowNumber(insertId, 'a report'), now);
      await resolveChangedDay(trx, plan, written.eventWindow, now);
    });
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

function toRow(plan: ReportPlan, { digest, ordersDigest, files, eventWindow, figures }: Written) {
  return {
    day: plan.day,
    revision: plan.revision,
    state: plan.state,
    made_at: plan.madeAt,
    proven: isProven(plan) ? 1 : 0,
    // without a run: counted at that time
    proven_run_seq: plan.reading?.runSeq ?? null,
    proven_asked_at: plan.reading?.askedAt ?? plan.countedAt ?? null,
    digest,
    sha256: hashOfWorkbook(files),
    files: JSON.stringify(files),
    figures,
    cut_entry_seq: plan.cut.entrySeq,
    cut_event_seq: plan.cut.eventSeq,
    cut_mismatch_change_seq: plan.cut.mismatchChangeSeq,
    cut_seal_position: plan.cut.position,
    cut_seal_hash: plan.cut.sealHash,
    cut_fact_change_seq: plan.cut.factChangeSeq,
    checked_entry_seq: plan.cut.entrySeq,
    checked_event_seq: plan.cut.eventSeq,
    checked_fact_change_seq: plan.cut.factChangeSeq,
    cut_event_window: eventWindow,
    checked_event_count: countBits(eventWindow),
    cut_orders: plan.cut.orders && JSON.stringify(plan.cut.orders),
    orders_digest: ordersDigest,
    checked_match_seq: plan.cut.orders?.matchSeq ?? null,
    locale: plan.locale,
    full_documents: plan.fullDocuments ? 1 : 0,
    version: plan.version,
  };
}
