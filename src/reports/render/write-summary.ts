import { addDays } from '../../domain/calendar.ts';
import { MISMATCH_SEVERITY } from '../../domain/mismatch.ts';
import { maskPlatform } from '../../domain/person/mask-person.ts';
import type { ReportPlan } from '../plan/report-plan.ts';
import type { Hour } from '../read/create-tally.ts';
import { MISMATCHES_MAX } from '../read/read-mismatches.ts';
import { describeCode, fill, formatDay, formatLocalCount, formatMoment, type Texts } from '../texts/texts.ts';
import type { SheetWriter } from '../xlsx/open-sheet.ts';
import { type Cell, columnName } from '../xlsx/render-cell.ts';
import { type Summary, startSection } from './start-section.ts';
import { writeBalance } from './write-summary-balance.ts';

export const SUMMARY_WIDTHS = { label: 44, number: 23 };
const BAR_IN = 'FF8FC3A3';
const BAR_OUT = 'FFE3A6A0';
const BAR_COUNT = 'FF9DB7D5';

/** Writes Resumo: facts of the revision, the day's balance with its checks, counts, open mismatches, hours. */
export function writeSummary(sheet: SheetWriter, summary: Summary): void {
  const columns = Math.max(5, summary.platforms.size + 2);
  sheet.addRow([{ text: fill(summary.texts.summary.title, { day: formatDay(summary.plan.day) }), style: 'title' }], {
    heightPoints: 28,
  });
  writeAbout(sheet, summary, columns);
  writeBalance(sheet, summary);
  sheet.breakPage();
  writeCounts(sheet, summary);
  writeMismatches(sheet, summary, columns);
  writeHours(sheet, summary);
}

function writeAbout(sheet: SheetWriter, { plan, texts, digest, tables }: Summary, columns: number): void {
  const words = texts.summary;
  const add = (label: string, cell: Cell): void => {
    const row = sheet.nextRow();
    const blank = Array.from({ length: columns - 2 }, () => ({ text: null, style: styleOf(cell) }));
    sheet.addRow([{ text: label, style: 'label' }, cell, ...blank]);
    sheet.merge(`B${row}:${columnName(columns - 1)}${row}`);
  };
  startSection(sheet, words.about, columns);
  add(words.day, { day: plan.day });
  const platform = plan.platform !== undefined && plan.masked ? maskPlatform(plan.platform) : plan.platform;
  if (platform !== undefined) add(words.platform, { text: platform });
  add(words.state, { text: texts.states[plan.state].toUpperCase(), style: stateStyle(plan) });
  add('', { text: texts.stateNotes[plan.state], style: 'hint' });
  add(words.proven, { text: describeProof(plan, texts), style: isReadWhole(plan) ? 'good' : 'bad' });
  if (plan.reading?.surplus) {
    const { count, actor, at } = plan.reading.surplus;
    const values = { count: formatLocalCount(count, texts), actor, at: formatMoment(plan.calendar.toWallTime(at)) };
    add(words.surplus, { text: fill(words.surplusText, values), style: 'bad' });
  }
  add(words.revision, { count: plan.revision, style: 'text' });
  add(words.madeAt, { moment: plan.calendar.toWallTime(plan.madeAt) });
  add(words.zone, { text: plan.calendar.zone });
  add(words.redacted, { text: plan.fullDocuments ? words.unredactedText : words.redactedText });
  if (plan.isRedacted) add('', { text: words.forgottenText, style: 'hint' });
  const { entrySeq, eventSeq, mismatchChangeSeq } = plan.cut;
  add(words.cut, { text: `${entrySeq} · ${eventSeq} · ${mismatchChangeSeq}` });
  add(words.digest, { text: digest.toString('hex') });
  add(words.chain, { text: formatSeal(plan.cut.position, plan.cut.sealHash?.toString('hex')) ?? words.chainNone });
  add(words.version, { text: `Confere ${plan.version}` });
  const split = tables.all.filter(([, table]) => table.sheets.length > 1);
  for (const [name, table] of split) {
    const values = { sheet: name, count: table.sheets.length, max: formatLocalCount(plan.rowsPerSheetMax, texts) };
    add(words.parts, { text: fill(words.partsText, values) });
  }
}

/** `1204 · 5f0c…`: position and hash in hex of the chain at the report's cut; undefined for a cut from before there were seals. */
export function formatSeal(position: number | null, hash: string | null | undefined): string | undefined {
  return position === null || !hash ? undefined : `${position} · ${hash}`;
}

function styleOf(cell: Cell) {
  return cell && 'style' in cell && cell.style ? cell.style : 'text';
}

function stateStyle(plan: ReportPlan): 'good' | 'bad' | 'text' {
  return plan.state === 'closed' ? 'good' : plan.state === 'partial' ? 'bad' : 'text';
}

/** Whether the whole day was read after its end. A reading that began while the day was running does not count. */
export function isReadWhole(plan: Pick<ReportPlan, 'reading' | 'state' | 'calendar' | 'day'>): boolean {
  if (!plan.reading || plan.state === 'partial') return false;
  return plan.reading.askedAt >= plan.calendar.startOfDay(addDays(plan.day, 1));
}

function describeProof(plan: ReportPlan, { summary }: Texts): string {
  if (!plan.reading) return summary.provenNo;
  const values = { run: plan.reading.runId, at: formatMoment(plan.calendar.toWallTime(plan.reading.askedAt)) };
  return fill(plan.state === 'partial' ? summary.provenRunning : summary.provenYes, values);
}

function writeCounts(sheet: SheetWriter, { texts, counts }: Summary): void {
  const words = texts.summary;
  startSection(sheet, words.counts, 3);
  sheet.addRow([
    { text: `${texts.columns.operation} · ${texts.columns.status}`, style: 'header' },
    { text: words.count, style: 'headerRight' },
    { text: words.amount, style: 'headerRight' },
  ]);
  const first = sheet.nextRow();
  for (const row of counts) {
    const name = `${describeCode(texts.operations, row.operation)} · ${describeCode(texts.statuses, row.status)}`;
    sheet.addRow([{ text: name, style: 'label' }, { count: row.count }, { cents: row.amountCents }]);
  }
  if (counts.length === 0) sheet.addRow([{ text: '–', style: 'label' }, { count: 0 }, { cents: 0n }]);
  const last = sheet.nextRow() - 1;
  sheet.addDataBars(`B${first}:B${last}`, BAR_COUNT);
}

function writeMismatches(sheet: SheetWriter, { texts, mismatches, tables }: Summary, columns: number): void {
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
  for (const kind of Object.keys(MISMATCH_SEVERITY)) {
    const ones = byKind.get(kind);
    if (!ones) continue;
    const worst = ones.some((one) => one.severity === 'critical') ? 'critical' : (ones[0]?.severity ?? 'medium');
    const style = worst === 'critical' ? 'bad' : 'text';
    sheet.addRow([
      { text: kind, style: 'label' },
      { count: ones.reduce((sum, one) => sum + one.count, 0) },
      { text: describeCode(texts.severities, worst), style },
      { text: describeCode(texts.mismatchKinds, kind), style: 'muted' },
    ]);
  }
  if (tables.mismatches.rows < MISMATCHES_MAX) return;
  sheet.addRow([
    {
      text: fill(words.mismatchesCut, { sheet: texts.sheets.mismatches, max: formatLocalCount(MISMATCHES_MAX, texts) }),
      style: 'muted',
    },
  ]);
}

function writeHours(sheet: SheetWriter, { texts, hours }: Summary): void {
  const words = texts.summary;
  startSection(sheet, words.hours, 5);
  const heads = [words.hour, words.receiptsCount, words.receiptsAmount, words.paymentsCount, words.paymentsAmount];
  sheet.addRow(heads.map((text, index) => ({ text, style: index === 0 ? 'header' : 'headerRight' })));
  const first = sheet.nextRow();
  for (const [hour, one] of hours.entries()) {
    const two = String(hour).padStart(2, '0');
    sheet.addRow([
      { text: `${two}:00–${two}:59`, style: 'label' },
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
}
