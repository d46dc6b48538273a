import { listDays } from '../../domain/calendar.ts';
import { rankSeverity } from '../../domain/mismatch.ts';
import { maskReceivables } from '../orders/mask-receivables.ts';
import { type ReceivableScope, readReceivables } from '../orders/read-receivables.ts';
import { type AnyPlan, spanOf } from '../plan/report-plan.ts';
import { maskPending, maskReportedMismatches } from '../read/mask-rows.ts';
import { countMismatches, type ReportedMismatch, readMismatches } from '../read/read-mismatches.ts';
import { readPending } from '../read/read-pending.ts';
import * as columns from './columns.ts';
import { RECEIVABLE_COLUMNS } from './order-columns.ts';
import { openReportTable, type ReportWork } from './report-work.ts';

/** Writes what was open at the end of the last day: the last rows of the digest. */
export async function writePending(work: ReportWork<AnyPlan>) {
  const { db, plan, scope, factsAtCut } = work;
  const pending = openReportTable(work, 'pending', columns.PENDING_COLUMNS);
  for await (const rows of readPending(db, { ...scope, cut: plan.cut, factsAtCut })) {
    for (const row of rows) work.digest.addPending(row);
    for (const row of plan.masked ? await maskPending(db, rows) : rows) pending.add(row);
    await pending.drain();
  }
  return await pending.end();
}

/** Writes what others owe. @returns undefined where the file shows no orders. */
export async function writeReceivables(work: ReportWork<AnyPlan>) {
  const scope = scopeOfReceivables(work);
  if (!scope) return undefined;
  const receivable = openReportTable(work, 'receivable', RECEIVABLE_COLUMNS);
  for await (const rows of readReceivables(work.db, scope)) {
    work.signal.throwIfAborted();
    for (const row of work.plan.masked ? maskReceivables(rows) : rows) receivable.add(row);
    await receivable.drain();
  }
  return await receivable.end();
}

/** @returns undefined where the file shows no orders. */
export function scopeOfReceivables({
  plan,
  scope,
  factsAtCut,
  shares,
}: Pick<ReportWork<AnyPlan>, 'plan' | 'scope' | 'factsAtCut' | 'shares'>): ReceivableScope | undefined {
  const { cut, calendar, platform } = plan;
  const { start, end } = scope;
  return shares && { ...spanOf(plan), start, end, cut, calendar, platform, factsAtCut, orders: shares.orders };
}

/** Writes the mismatches that were open at the cut, and those that were found in these days. */
export async function writeMismatches(work: ReportWork<AnyPlan>) {
  const { db, plan } = work;
  const mismatches = openReportTable(work, 'mismatches', columns.MISMATCH_COLUMNS);
  const days = spanOf(plan);
  const own = new Set(listDays(days.from, days.to));
  const from = plan.calendar.startOfDay(days.from);
  const to = plan.calendar.endOfDay(days.to);
  const { orders, eventSeq, mismatchChangeSeq: changeSeq } = plan.cut;
  const scope = { from, to, changeSeq, eventSeq, versionSeq: orders?.versionSeq, platform: plan.platform };
  const found = (await readMismatches(db, scope)).sort(compareMismatches);
  for (const row of plan.masked ? await maskReportedMismatches(db, found) : found)
    mismatches.add({ ...row, days: own });
  return { mismatches: await mismatches.end(), openMismatches: await countMismatches(db, scope, days) };
}

/** Orders by what a reader decides first: open ones, the worst, those with more at stake; receipts without an order come last. */
function compareMismatches(a: ReportedMismatch, b: ReportedMismatch): number {
  const rank = ({ resolvedAt, severity, kind }: ReportedMismatch): number =>
    Number(resolvedAt !== null) * 8 + Number(kind === 'receipt_unidentified') * 4 + rankSeverity(severity);
  return rank(a) - rank(b) || Number((b.stakeCents ?? 0n) - (a.stakeCents ?? 0n));
}
