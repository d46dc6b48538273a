import { addDays } from '../domain/calendar.ts';
import { MISMATCH_SEVERITY } from '../domain/mismatch.ts';
import { formatAmount } from '../domain/money.ts';
import type { ReportPlan } from './plan.ts';
import type { StatedOpening, StatusCount } from './read-counts.ts';
import type { ReportedMismatch } from './read-mismatches.ts';
import { addFigures, type Figures, type Hour, LINES } from './tally.ts';
import { fill, formatDay, formatMoment, say, type Texts } from './texts.ts';
import type { FinishedTable } from './write-table.ts';
import { type Cell, columnName } from './xlsx/render-cell.ts';
import type { SheetWriter } from './xlsx/sheet.ts';

export type Summary = {
  plan: ReportPlan;
  texts: Texts;
  platforms: Map<string, Figures>;
  hours: Hour[];
  counts: StatusCount[];
  openings: StatedOpening[];
  mismatches: ReportedMismatch[];
  digest: Buffer;
  tables: {
    receipts: FinishedTable;
    payments: FinishedTable;
    refunds: FinishedTable;
    statement: FinishedTable;
    pending: FinishedTable;
    all: [string, FinishedTable][];
  };
};

export const SUMMARY_WIDTHS = { label: 44, number: 23 };
export const SUMMARY_PAGES_MAX = 2;
const BAR_IN = 'FF8FC3A3';
const BAR_OUT = 'FFE3A6A0';
const BAR_COUNT = 'FF9DB7D5';
const SECTION_HEIGHT_POINTS = 24;

/** Writes Resumo: what this report is, the day's balance with its checks, the counts, the hours, what is open. */
export function writeSummary(sheet: SheetWriter, summary: Summary): void {
  const columns = Math.max(5, summary.platforms.size + 2);
  sheet.addRow([{ text: fill(summary.texts.summary.title, { day: formatDay(summary.plan.day) }), look: 'title' }], {
    heightPoints: 28,
  });
  writeAbout(sheet, summary, columns);
  writeBalance(sheet, summary);
  writeCounts(sheet, summary);
  writeMismatches(sheet, summary, columns);
  writeHours(sheet, summary);
}

function startSection(sheet: SheetWriter, title: string, columns: number): void {
  sheet.addRow([]);
  sheet.addRow(
    Array.from({ length: columns }, (_, index) => ({ text: index === 0 ? title : null, look: 'section' as const })),
    { heightPoints: SECTION_HEIGHT_POINTS },
  );
}

function writeAbout(sheet: SheetWriter, { plan, texts, digest, tables }: Summary, columns: number): void {
  const words = texts.summary;
  const add = (label: string, cell: Cell, height?: number): void => {
    const row = sheet.nextRow();
    const blank = Array.from({ length: columns - 2 }, () => ({ text: null, look: lookOf(cell) }));
    sheet.addRow([{ text: label, look: 'label' }, cell, ...blank], height ? { heightPoints: height } : {});
    sheet.merge(`B${row}:${columnName(columns - 1)}${row}`);
  };
  startSection(sheet, words.about, columns);
  add(words.day, { day: plan.day });
  if (plan.platform !== undefined) add(words.platform, { text: plan.platform });
  add(words.state, { text: texts.states[plan.state].toUpperCase(), look: stateLook(plan) });
  add('', { text: texts.stateNotes[plan.state], look: 'hint' });
  add(words.proven, { text: tellProof(plan, texts), look: isProven(plan) ? 'good' : 'bad' });
  add(words.revision, { count: plan.revision, look: 'text' });
  add(words.madeAt, { moment: plan.calendar.toWall(plan.madeAt) });
  add(words.zone, { text: plan.calendar.zone });
  add(words.redacted, { text: plan.fullDocuments ? words.unredactedText : words.redactedText });
  const { entrySeq, eventSeq, mismatchChangeSeq } = plan.cut;
  add(words.cut, { text: `${entrySeq} · ${eventSeq} · ${mismatchChangeSeq}` });
  add(words.digest, { text: digest.toString('hex') });
  add(words.version, { text: `Confere ${plan.version}` });
  const split = tables.all.filter(([, table]) => table.sheets.length > 1);
  for (const [name, table] of split) {
    const values = { sheet: name, count: table.sheets.length, max: plan.rowsPerSheetMax };
    add(words.parts, { text: fill(words.partsText, values) });
  }
}

function lookOf(cell: Cell) {
  return cell && 'look' in cell && cell.look ? cell.look : 'text';
}

function stateLook(plan: ReportPlan): 'good' | 'bad' | 'text' {
  return plan.state === 'closed' ? 'good' : plan.state === 'partial' ? 'bad' : 'text';
}

/** A proof from while the day was running does not prove the day. */
export function isProven(plan: Pick<ReportPlan, 'proof' | 'state' | 'calendar' | 'day'>): boolean {
  if (!plan.proof || plan.state === 'partial') return false;
  return plan.proof.askedAt >= plan.calendar.startOf(addDays(plan.day, 1));
}

function tellProof(plan: ReportPlan, { summary }: Texts): string {
  if (!plan.proof) return summary.provenNo;
  const values = { run: plan.proof.runId, at: formatMoment(plan.calendar.toWall(plan.proof.askedAt)) };
  return fill(plan.state === 'partial' ? summary.provenRunning : summary.provenYes, values);
}

function writeBalance(sheet: SheetWriter, summary: Summary): void {
  const { texts, tables } = summary;
  const words = texts.summary;
  const names = [...summary.platforms.keys()].sort();
  const total = addFigures(summary.platforms.values());
  const all = [...names.map((name) => summary.platforms.get(name) ?? total), total];
  startSection(sheet, words.balance, names.length + 2);
  sheet.addRow(
    [words.line, ...names, words.total].map((text, index) => ({ text, look: index === 0 ? 'header' : 'headerRight' })),
    { heightPoints: 34 },
  );
  const add = (label: string, pick: (one: Figures) => bigint, formula?: (letter: string) => string): number => {
    const row = sheet.nextRow();
    const looks = formula ? (['labelBold', 'moneyTotal'] as const) : (['label', 'money'] as const);
    sheet.addRow([
      { text: label, look: looks[0] },
      ...all.map((one, index): Cell => {
        const letter = columnName(index + 1);
        const isTotal = index === all.length - 1 && names.length > 0;
        const own = formula?.(letter) ?? (isTotal ? `SUM(B${row}:${columnName(index)}${row})` : undefined);
        return { cents: pick(one), look: looks[1], ...(own ? { formula: own } : {}) };
      }),
    ]);
    return row;
  };
  const first = add(words.opening, (one) => one.opening);
  for (const line of LINES) add(words[line], (one) => one[line]);
  const closing = add(
    words.closing,
    (one) => one.closing,
    (letter) => `SUM(${letter}${first}:${letter}${first + LINES.length})`,
  );
  const held = add(words.held, (one) => one.held);
  const ledger = add(words.ledger, (one) => one.ledgerClosing);
  const check = (label: string, pick: (one: Figures) => bigint, formula: (letter: string) => string): void => {
    sheet.addRow([
      { text: label, look: 'label' },
      ...all.map((one, index): Cell => {
        const cents = pick(one);
        return { cents, look: cents === 0n ? 'moneyGood' : 'moneyBad', formula: formula(columnName(index + 1)) };
      }),
    ]);
  };
  check(
    words.difference,
    (one) => one.closing - one.ledgerClosing,
    (letter) => `ROUND(${letter}${closing}-${letter}${ledger},2)`,
  );
  writeSheetChecks(sheet, summary, { total, column: all.length, first, held, ledger });
  writeOpenings(sheet, summary, names);
  sheet.addRow([{ text: `${texts.notes.statement} ${tables.statement.rows} ${words.rows}.`, look: 'muted' }]);
}

/** The same closing balance again, from the totals of the other sheets. */
function writeSheetChecks(
  sheet: SheetWriter,
  { texts, tables }: Summary,
  at: { total: Figures; column: number; first: number; held: number; ledger: number },
): void {
  const words = texts.summary;
  const letter = columnName(at.column);
  const blank = Array.from({ length: at.column - 1 }, (): Cell => ({ text: null, look: 'label' }));
  const totalOf = (table: FinishedTable, name: string) => table.totals.get(name) ?? { cents: 0n, formula: '0' };
  const moved = totalOf(tables.statement, 'net');
  const pending = totalOf(tables.pending, 'held');
  const put = (label: string, cents: bigint, formula: string, isCheck: boolean): number => {
    const row = sheet.nextRow();
    const look = !isCheck ? 'money' : cents === 0n ? 'moneyGood' : 'moneyBad';
    sheet.addRow([{ text: label, look: 'label' }, ...blank, { cents, look, formula }]);
    return row;
  };
  const sum = at.total.opening + moved.cents;
  const sumRow = put(words.sheetsSum, sum, `${letter}${at.first}+${moved.formula}`, false);
  const difference = sum - at.total.ledgerClosing;
  put(words.difference, difference, `ROUND(${letter}${sumRow}-${letter}${at.ledger},2)`, true);
  const pendingRow = put(words.pendingHeld, pending.cents, pending.formula, false);
  put(words.heldDifference, pending.cents - at.total.held, `ROUND(${letter}${pendingRow}-${letter}${at.held},2)`, true);
}

function writeOpenings(sheet: SheetWriter, { texts, openings }: Summary, names: string[]): void {
  const words = texts.summary;
  const stated = new Map(openings.map((one) => [one.platform, one]));
  const tell = (name: string): string => {
    const one = stated.get(name);
    if (!one) return words.openingNone;
    const amount = formatAmount(one.balanceCents);
    return fill(words.openingStatedText, { amount, day: formatDay(one.day) });
  };
  sheet.addRow([
    { text: words.openingStated, look: 'label' },
    ...names.map((name): Cell => ({ text: tell(name), look: 'note' })),
  ]);
}

function writeCounts(sheet: SheetWriter, { texts, counts }: Summary): void {
  const words = texts.summary;
  startSection(sheet, words.counts, 3);
  sheet.addRow([
    { text: `${texts.columns.operation} · ${texts.columns.status}`, look: 'header' },
    { text: words.count, look: 'headerRight' },
    { text: words.amount, look: 'headerRight' },
  ]);
  const first = sheet.nextRow();
  for (const row of counts) {
    const name = `${say(texts.operations, row.operation)} · ${say(texts.statuses, row.status)}`;
    sheet.addRow([{ text: name, look: 'label' }, { count: row.count }, { cents: row.amountCents }]);
  }
  if (counts.length === 0) sheet.addRow([{ text: '–', look: 'label' }, { count: 0 }, { cents: 0n }]);
  const last = sheet.nextRow() - 1;
  sheet.addDataBars(`B${first}:B${last}`, BAR_COUNT);
}

function writeMismatches(sheet: SheetWriter, { texts, mismatches }: Summary, columns: number): void {
  const words = texts.summary;
  startSection(sheet, words.openMismatches, columns);
  const open = mismatches.filter((one) => one.state !== 'resolved');
  if (open.length === 0) {
    sheet.addRow([
      { text: words.noMismatches, look: 'good' },
      { count: 0, look: 'good' },
    ]);
    return;
  }
  const byKind = Map.groupBy(open, (one) => one.kind);
  for (const kind of Object.keys(MISMATCH_SEVERITY)) {
    const ones = byKind.get(kind);
    if (!ones) continue;
    const worst = ones.some((one) => one.severity === 'critical') ? 'critical' : (ones[0]?.severity ?? 'medium');
    const look = worst === 'critical' ? 'bad' : 'text';
    sheet.addRow([
      { text: kind, look: 'label' },
      { count: ones.length },
      { text: say(texts.severities, worst), look },
      { text: say(texts.mismatchKinds, kind), look: 'muted' },
    ]);
  }
}

function writeHours(sheet: SheetWriter, { texts, hours }: Summary): void {
  const words = texts.summary;
  startSection(sheet, words.hours, 5);
  const heads = [words.hour, words.receiptsCount, words.receiptsAmount, words.paymentsCount, words.paymentsAmount];
  sheet.addRow(heads.map((text, index) => ({ text, look: index === 0 ? 'header' : 'headerRight' })));
  const first = sheet.nextRow();
  for (const [hour, one] of hours.entries()) {
    const two = String(hour).padStart(2, '0');
    sheet.addRow([
      { text: `${two}:00–${two}:59`, look: 'label' },
      { count: one.receiptsCount },
      { cents: one.receiptsCents },
      { count: one.paymentsCount },
      { cents: one.paymentsCents },
    ]);
  }
  const last = sheet.nextRow() - 1;
  const sum = (letter: string): string => `SUM(${letter}${first}:${letter}${last})`;
  const add = <T extends number | bigint>(start: T, pick: (one: Hour) => T): T =>
    hours.reduce((total, one) => ((total as bigint) + (pick(one) as bigint)) as T, start);
  sheet.addRow([
    { text: words.total, look: 'labelBold' },
    { count: add(0, (one) => one.receiptsCount), look: 'countTotal', formula: sum('B') },
    { cents: add(0n, (one) => one.receiptsCents), look: 'moneyTotal', formula: sum('C') },
    { count: add(0, (one) => one.paymentsCount), look: 'countTotal', formula: sum('D') },
    { cents: add(0n, (one) => one.paymentsCents), look: 'moneyTotal', formula: sum('E') },
  ]);
  for (const letter of ['B', 'C']) sheet.addDataBars(`${letter}${first}:${letter}${last}`, BAR_IN);
  for (const letter of ['D', 'E']) sheet.addDataBars(`${letter}${first}:${letter}${last}`, BAR_OUT);
}
