import { largest } from '../../domain/lists.ts';
import { maskAccount } from '../../domain/person/mask-person.ts';
import { formatLocalCount } from '../../texts/reports/texts.ts';
import type { AnyPlan } from '../plan/report-plan.ts';
import { ADJUSTED, LINES, type PlatformTotals, RANGE_LINES, sumPlatformTotals } from '../read/create-tally.ts';
import { platformAccountSegment } from '../read/read-accounts.ts';
import type { StatedBalance } from '../read/read-statements.ts';
import type { SheetWriter } from '../xlsx/open-sheet.ts';
import { type Cell, columnName } from '../xlsx/render-cell.ts';
import type { FinishedTable } from './open-table.ts';
import { type Summary, startSection } from './start-section.ts';

/**
 * Writes the balance of the day or range, one column a platform, and its checks against the ledger's sums and the other sheets' totals.
 * @returns the row of the receipts.
 */
export function writeBalance(sheet: SheetWriter, summary: Summary<AnyPlan>): number {
  const { texts, tables } = summary;
  const words = texts.summary;
  const [title, lines] = 'days' in summary.plan ? [texts.period.balance, RANGE_LINES] : [words.balance, LINES];
  const names = [...summary.platforms.keys()].sort();
  const total = sumPlatformTotals(summary.platforms.values());
  const all = [...names.map((name) => summary.platforms.get(name) ?? total), total];
  startSection(sheet, title, names.length + 2);
  addHeads(sheet, summary, names);
  const add = (label: string, pick: (one: PlatformTotals) => bigint, formula?: (letter: string) => string): number => {
    const row = sheet.nextRow();
    const styles = formula ? (['labelBold', 'moneyTotal'] as const) : (['label', 'money'] as const);
    sheet.addRow([
      { text: label, style: styles[0] },
      ...all.map((one, index): Cell => {
        const letter = columnName(index + 1);
        const isTotal = index === all.length - 1 && names.length > 0;
        const own = formula?.(letter) ?? (isTotal ? `SUM(B${row}:${columnName(index)}${row})` : undefined);
        return { cents: pick(one), style: styles[1], ...(own ? { formula: own } : {}) };
      }),
    ]);
    return row;
  };
  const first = add(words.opening, (one) => one.opening);
  for (const line of lines) add(words[line], (one) => one[line]);
  const closing = add(
    words.closing,
    (one) => one.closing,
    (letter) => `SUM(${letter}${first}:${letter}${first + lines.length})`,
  );
  const held = add(words.held, (one) => one.held);
  for (const part of ADJUSTED) add(words[part], (one) => one[part]);
  const ledger = add(words.ledger, (one) => one.ledgerClosing);
  const differences = all.map((one, index): Cell => {
    const letter = columnName(index + 1);
    return checkCell(one.closing - one.ledgerClosing, `ROUND(${letter}${closing}-${letter}${ledger},2)`);
  });
  sheet.addRow([{ text: words.difference, style: 'label' }, ...differences]);
  writeSheetChecks(sheet, summary, { total, column: all.length, first, held, ledger });
  writeStatements(sheet, summary, names);
  writeOpenings(sheet, summary, names);
  const { rows } = tables.statement;
  const text = `${texts.sheets.statement}: ${formatLocalCount(rows, texts)} ${rows === 1 ? words.row : words.rows}`;
  sheet.addRow([{ text, style: 'muted' }]);
  return first + 1;
}

/** Adds the heads of a table with a column a platform, and the total. */
export function addHeads(sheet: SheetWriter, summary: Summary<AnyPlan>, names: string[]): void {
  const { line, total } = summary.texts.summary;
  const headers = [line, ...namePlatforms(summary, names), total];
  sheet.addRow(
    headers.map((text, index) => ({ text, style: index === 0 ? 'header' : 'headerRight' })),
    { heightPoints: measureHeads(headers) },
  );
}

const HEAD_CHARACTERS = 14;
const HEAD_LINE_POINTS = 13;
const HEAD_LINES_MIN = 2;

/** The height of the heads, which are wrapped: a name, and the id on lines of its own. */
function measureHeads(heads: string[]): number {
  const linesOf = (text: string): number =>
    text.split('\n').reduce((sum, line) => sum + Math.ceil(line.length / HEAD_CHARACTERS), 0);
  return 8 + HEAD_LINE_POINTS * Math.max(HEAD_LINES_MIN, largest(heads.slice(1).map(linesOf)));
}

/** The heads of the platforms' columns: each name has its id beside it here, and nowhere else. */
function namePlatforms({ plan, platformNames }: Summary<AnyPlan>, segments: string[]): string[] {
  const named = new Map([...platformNames].map(([platform, name]) => [platformAccountSegment(platform), name]));
  return segments.map((segment) => {
    const id = plan.masked ? maskAccount(segment) : segment;
    const name = id === segment ? named.get(segment) : undefined;
    return name === undefined ? id : `${name}\n${id}`;
  });
}

/** A difference that must be 0,00: red if it is not. */
export function checkCell(cents: bigint, formula: string): Cell {
  return { cents, style: cents === 0n ? 'moneyGood' : 'moneyBad', formula };
}

/** Writes the closing balance again, from the totals of the other sheets. */
function writeSheetChecks(
  sheet: SheetWriter,
  { texts, tables }: Summary<AnyPlan>,
  at: { total: PlatformTotals; column: number; first: number; held: number; ledger: number },
): void {
  const words = texts.summary;
  const letter = columnName(at.column);
  const blank = Array.from({ length: at.column - 1 }, (): Cell => ({ text: null, style: 'label' }));
  const totalOf = (table: FinishedTable, name: string) => table.totals.get(name) ?? { cents: 0n, formula: '0' };
  const moved = totalOf(tables.statement, 'net');
  const pending = totalOf(tables.pending, 'held');
  const put = (label: string, cell: Cell): number => {
    const row = sheet.nextRow();
    sheet.addRow([{ text: label, style: 'label' }, ...blank, cell]);
    return row;
  };
  const sum = at.total.opening + moved.cents;
  const sumRow = put(words.sheetsSum, { cents: sum, formula: `${letter}${at.first}+${moved.formula}` });
  const difference = sum - at.total.ledgerClosing;
  put(words.difference, checkCell(difference, `ROUND(${letter}${sumRow}-${letter}${at.ledger},2)`));
  const pendingRow = put(words.pendingHeld, pending);
  const formula = `ROUND(${letter}${pendingRow}-${letter}${at.held},2)`;
  put(words.heldDifference, checkCell(pending.cents - at.total.held, formula));
}

/** Writes the balances that people read off the provider's panel that day, if any, with the ledger's at that instant. */
function writeStatements(sheet: SheetWriter, { texts, statements }: Summary<AnyPlan>, names: string[]): void {
  if (statements.length === 0) return;
  const words = texts.summary;
  const stated = new Map(statements.map((one) => [platformAccountSegment(one.platform), one]));
  const all = names.map((name) => stated.get(name));
  const put = (label: string, cell: (one: StatedBalance) => Cell): void =>
    sheet.addRow([
      { text: label, style: 'label' },
      ...all.map((one): Cell => (one ? cell(one) : { text: null, style: 'label' })),
      { text: null, style: 'label' },
    ]);
  put(words.stated, (one) => ({ cents: one.statedCents }));
  put(words.statedAt, (one) => ({ moment: one.atWall, style: 'momentRight' }));
  put(words.statedLedger, (one) => ({ cents: one.ledgerCents }));
  const row = sheet.nextRow();
  sheet.addRow([
    { text: words.statedDifference, style: 'label' },
    ...all.map((one, index): Cell => {
      if (!one) return { text: null, style: 'label' };
      const letter = columnName(index + 1);
      return checkCell(one.statedCents - one.ledgerCents, `ROUND(${letter}${row - 3}-${letter}${row - 1},2)`);
    }),
    { text: null, style: 'label' },
  ]);
}

/** Writes the opening balance that people stated for each platform, if any. */
function writeOpenings(sheet: SheetWriter, { texts, openings }: Summary<AnyPlan>, names: string[]): void {
  const words = texts.summary;
  const stated = new Map(openings.map((one) => [platformAccountSegment(one.platform), one]));
  const all = names.map((name) => stated.get(name));
  sheet.addRow([
    { text: words.openingStated, style: 'label' },
    ...all.map((one): Cell => (one ? { cents: one.balanceCents } : { text: words.openingNone, style: 'warnRight' })),
    { text: null, style: 'label' },
  ]);
  if (all.every((one) => one === undefined)) return;
  const days = all.map((one): Cell => ({ day: one?.day ?? null, style: 'dayRight' }));
  sheet.addRow([{ text: words.openingDay, style: 'label' }, ...days, { text: null, style: 'label' }]);
}
