import { MISMATCH_SEVERITY } from '../../domain/mismatch.ts';
import { describeCode, fill } from '../../texts/fill.ts';
import { formatDay, formatLocalCount, formatMoment, type Texts } from '../../texts/reports/texts.ts';
import { type AnyPlan, isProven, type ReportPlan, type ReportState } from '../plan/report-plan.ts';
import type { Hour } from '../read/create-tally.ts';
import { MISMATCHES_MAX } from '../read/read-mismatches.ts';
import type { SheetWriter } from '../xlsx/open-sheet.ts';
import type { Cell } from '../xlsx/render-cell.ts';
import { countLines, heightOf } from './open-table.ts';
import { type Summary, startSection } from './start-section.ts';
import { type Fact, writeAbout, writeIdentity } from './write-about.ts';
import { drawCounts, drawHours, reserveCharts, type WrittenTable } from './write-charts.ts';
import { writeReceiptShares } from './write-receipt-shares.ts';
import { writeBalance } from './write-summary-balance.ts';

export const SUMMARY_WIDTHS = { label: 44, number: 23 };
const BAR_IN = 'FF8FC3A3';
const BAR_OUT = 'FFE3A6A0';
const BAR_COUNT = 'FF9DB7D5';
/** The columns of the charts by hour and by status. */
const CHARTS = { widths: [3, 2], rows: 18 };

/** Writes Resumo: facts of the revision, the day's balance with its checks, charts, counts, open mismatches, hours, hashes. */
export function writeSummary(sheet: SheetWriter, summary: Summary): void {
  const columns = Math.max(5, summary.platforms.size + 2);
  sheet.addRow([{ text: fill(summary.texts.summary.title, { day: formatDay(summary.plan.day) }), style: 'title' }], {
    heightPoints: 28,
  });
  writeAbout(sheet, summary, columns, {
    span: [summary.texts.summary.day, { day: summary.plan.day }],
    facts: listFacts(summary),
  });
  writeReceiptShares(sheet, summary, writeBalance(sheet, summary));
  sheet.breakPage();
  const placeCharts = reserveCharts(sheet, summary, CHARTS);
  const counts = writeCounts(sheet, summary);
  writeMismatches(sheet, summary, columns);
  sheet.breakPage();
  const hours = writeHours(sheet, summary);
  placeCharts([drawHours(summary, hours), drawCounts(summary, counts)]);
  writeIdentity(sheet, summary, columns);
}

function listFacts({ plan, texts, actorOf }: Summary): Fact[] {
  const words = texts.summary;
  const surplus = plan.reading?.surplus;
  const values = surplus && {
    count: formatLocalCount(surplus.count, texts),
    actor: actorOf(surplus.actor),
    at: formatMoment(plan.calendar.toWallTime(surplus.at)),
  };
  return [
    [words.state, { text: texts.states[plan.state].toUpperCase(), style: stateStyle(plan) }],
    ['', { text: texts.stateNotes[plan.state], style: 'hint' }],
    [words.proven, { text: describeProof(plan, texts), style: isProven(plan) ? 'good' : 'bad' }],
    ...(values ? [[words.surplus, { text: fill(words.surplusText, values), style: 'bad' }] satisfies Fact] : []),
    [words.revision, { count: plan.revision, style: 'text' }],
  ];
}

/** The colour of a state. */
export function stateStyle(plan: { state: ReportState }): 'good' | 'bad' | 'text' {
  return plan.state === 'closed' ? 'good' : plan.state === 'partial' ? 'bad' : 'text';
}

function describeProof({ reading, countedAt, calendar, state }: ReportPlan, { summary }: Texts): string {
  const at = reading?.askedAt ?? countedAt;
  if (!at) return summary.provenNo;
  const values = { run: reading?.runId ?? '', at: formatMoment(calendar.toWallTime(at)) };
  if (!reading) return fill(summary.provenByCounts, values);
  return fill(state === 'partial' ? summary.provenRunning : summary.provenYes, values);
}

/** Writes how many transactions reached each status. */
export function writeCounts(sheet: SheetWriter, { texts, counts, plan }: Summary<AnyPlan>): WrittenTable {
  const words = texts.summary;
  const heads = [`${texts.columns.operation} · ${texts.columns.status}`, words.count, words.amount];
  const names: string[] = [];
  startSection(sheet, 'days' in plan ? texts.period.counts : words.counts, 3);
  const headRow = sheet.nextRow();
  addHeader(sheet, heads);
  for (const row of counts) {
    const name = `${describeCode(texts.operations, row.operation)} · ${describeCode(texts.statuses, row.status)}`;
    names.push(name);
    sheet.addRow([{ text: name, style: 'label' }, { count: row.count }, { cents: row.amountCents }]);
  }
  if (counts.length === 0) sheet.addRow([{ text: '–', style: 'label' }, { count: 0 }, { cents: 0n }]);
  sheet.addDataBars(`B${headRow + 1}:B${sheet.nextRow() - 1}`, BAR_COUNT);
  return { headRow, heads, names };
}

function addHeader(sheet: SheetWriter, heads: string[]): void {
  sheet.addRow(heads.map((text, index) => ({ text, style: index === 0 ? 'header' : 'headerRight' })));
}

/** Writes the open mismatches by kind: how many, and what is at stake. */
export function writeMismatches(
  sheet: SheetWriter,
  { plan, texts, mismatches, tables }: Summary<AnyPlan>,
  columns: number,
): void {
  const words = texts.summary;
  startSection(sheet, words.openMismatches, columns);
  if (mismatches.length === 0) {
    sheet.addRow([
      { text: words.noMismatches, style: 'good' },
      { count: 0, style: 'good' },
    ]);
    return;
  }
  const byKind = Map.groupBy(mismatches, (one) => one.kind);
  const { mismatch, atStake, severity, meaning } = texts.columns;
  // the files of a day keep their bytes
  const isPeriod = 'days' in plan;
  const addUp = (ones: typeof mismatches, cents: 'stakeCents' | 'ownStakeCents'): bigint =>
    ones.reduce((sum, one) => sum + one[cents], 0n);
  const own = (ones: typeof mismatches): Cell[] => [
    { count: ones.reduce((sum, one) => sum + one.own, 0) },
    ...(isPeriod ? [{ cents: addUp(ones, 'ownStakeCents') }] : []),
  ];
  sheet.addRow([
    { text: mismatch, style: 'header' },
    { text: words.count, style: 'headerRight' },
    { text: atStake, style: 'headerRight' },
    ...(isPeriod ? [texts.period.own, texts.period.ownAtStake] : []).map(
      (text): Cell => ({ text, style: 'headerRight' }),
    ),
    ...[severity, meaning].map((text): Cell => ({ text, style: 'header' })),
  ]);
  for (const kind of Object.keys(MISMATCH_SEVERITY)) {
    const ones = byKind.get(kind);
    if (!ones) continue;
    const worst = ones.some((one) => one.severity === 'critical') ? 'critical' : (ones[0]?.severity ?? 'medium');
    const style = worst === 'critical' ? 'bad' : 'text';
    const text = describeCode(texts.mismatchKinds, kind);
    sheet.addRow(
      [
        { text: describeCode(texts.mismatchTitles, kind), style: 'label' },
        { count: ones.reduce((sum, one) => sum + one.count, 0) },
        { cents: addUp(ones, 'stakeCents') },
        ...(isPeriod ? own(ones) : []),
        { text: describeCode(texts.severities, worst), style },
        // beyond the last column a printed page ends
        { text, style: 'mutedWrapped' },
      ],
      heightOf(countLines(text, SUMMARY_WIDTHS.number)),
    );
  }
  sheet.addRow([
    { text: isPeriod ? texts.period.ownOfPeriod : texts.period.ownOfDay, style: 'label' },
    ...own(mismatches),
  ]);
  if (tables.mismatches.rows < MISMATCHES_MAX) return;
  sheet.addRow([
    {
      text: fill(words.mismatchesCut, { sheet: texts.sheets.mismatches, max: formatLocalCount(MISMATCHES_MAX, texts) }),
      style: 'muted',
    },
  ]);
}

function writeHours(sheet: SheetWriter, { texts, hours }: Summary): WrittenTable {
  const words = texts.summary;
  startSection(sheet, words.hours, 5);
  const heads = [words.hour, words.receiptsCount, words.receiptsAmount, words.paymentsCount, words.paymentsAmount];
  const headRow = sheet.nextRow();
  addHeader(sheet, heads);
  const first = sheet.nextRow();
  const names = hours.map((_, hour) => `${String(hour).padStart(2, '0')}h`);
  for (const [hour, one] of hours.entries()) {
    sheet.addRow([
      { text: names[hour] ?? '', style: 'label' },
      { count: one.receiptsCount },
      { cents: one.receiptsCents },
      { count: one.paymentsCount },
      { cents: one.paymentsCents },
    ]);
  }
  const last = sheet.nextRow() - 1;
  const sum = (letter: string): string => `SUM(${letter}${first}:${letter}${last})`;
  const count = (pick: (one: Hour) => number): number => hours.reduce((total, one) => total + pick(one), 0);
  const cents = (pick: (one: Hour) => bigint): bigint => hours.reduce((total, one) => total + pick(one), 0n);
  sheet.addRow([
    { text: words.total, style: 'labelBold' },
    { count: count((one) => one.receiptsCount), style: 'countTotal', formula: sum('B') },
    { cents: cents((one) => one.receiptsCents), style: 'moneyTotal', formula: sum('C') },
    { count: count((one) => one.paymentsCount), style: 'countTotal', formula: sum('D') },
    { cents: cents((one) => one.paymentsCents), style: 'moneyTotal', formula: sum('E') },
  ]);
  for (const letter of ['B', 'C']) sheet.addDataBars(`${letter}${first}:${letter}${last}`, BAR_IN);
  for (const letter of ['D', 'E']) sheet.addDataBars(`${letter}${first}:${letter}${last}`, BAR_OUT);
  return { headRow, heads, names };
}
