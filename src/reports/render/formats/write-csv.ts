import { showUnseen } from '../../../domain/language/show-unseen.ts';
import { formatAmount } from '../../../domain/money.ts';
import { formatDay, formatMoment } from '../../../texts/reports/texts.ts';
import type { Cell } from '../../xlsx/render-cell.ts';
import { type RenderContext, type ReportColumn, STATEMENT_COLUMNS, text } from '../columns.ts';
import { openTextFile, type TextFile } from './open-text-file.ts';
import type { FormatWork, Output } from './output.ts';

export const BOM = '\uFEFF';
export const LINE_END = '\r\n';

/** Opens the CSV of Extrato. */
export async function openCsv(work: FormatWork, path: string): Promise<Output> {
  const { file, add } = await openRows(work, path, STATEMENT_COLUMNS);
  return { add, drain: () => file.drain(), end: () => file.end() };
}

/** Opens a CSV of a report: other programs know a platform by its id, so its name is a column of its own, the last one. */
export async function openRows<Row>({ signal, rendering }: FormatWork, path: string, columns: ReportColumn<Row>[]) {
  const file = await openTextFile(path, signal);
  return { file, add: startNamedCsv(file, columns, rendering) };
}

/** Writes the header of a CSV with the platforms' names. @returns what adds a row. */
export function startNamedCsv<Row>(file: Sink, columns: ReportColumn<Row>[], named: RenderContext) {
  const rendering = { ...named, platformNames: new Map<string, string>() };
  const platform = columns.find(({ name }) => name === 'platform');
  const all = [...columns, text<Row>('platformName', 38, (row) => nameOf(platform?.cell(row, rendering), named))];
  startCsv(file, all, rendering);
  return (row: Row): void => addCsvRow(file, all, row, rendering);
}

function nameOf(platform: Cell, { platformNames }: RenderContext): string | null {
  return platform && 'text' in platform ? (platformNames.get(platform.text ?? '') ?? null) : null;
}

type Sink = Pick<TextFile, 'add'>;

/** Writes the header of the CSV: `;`, decimal comma, UTF-8 with BOM, CRLF. */
export function startCsv<Row>(file: Sink, columns: ReportColumn<Row>[], rendering: RenderContext): void {
  const names = columns.map((column) => escapeCsvField(rendering.texts.columns[column.name]));
  file.add(`${BOM}${names.join(';')}${LINE_END}`);
}

export function addCsvRow<Row>(file: Sink, columns: ReportColumn<Row>[], row: Row, rendering: RenderContext): void {
  let line = '';
  for (let index = 0; index < columns.length; index++) {
    if (index > 0) line += ';';
    line += renderField(columns[index]?.cell(row, rendering));
  }
  file.add(line + LINE_END);
}

/** A field of a CSV: decimal comma, `dd/mm/yyyy`. */
export function renderField(cell: Cell): string {
  if (cell === undefined) return '';
  if ('text' in cell) return escapeCsvField(cell.text ?? '');
  if ('cents' in cell) return cell.cents === null ? '' : formatAmount(cell.cents).replace('.', ',');
  if ('moment' in cell) return cell.moment === null ? '' : formatMoment(cell.moment);
  if ('count' in cell) return cell.count === null ? '' : String(cell.count);
  return cell.day === null ? '' : formatDay(cell.day);
}

/** The start of a formula for a spreadsheet, full-width forms included: such a text gets an apostrophe. */
const FORMULA = /^[\s\p{Cc}]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/u;

export function isFormula(text: string): boolean {
  return FORMULA.test(text);
}

/**
 * A text field: never a formula for a spreadsheet; quoted if it holds a separator of any CSV, so that `x,=1+1` stays one cell.
 * Characters that cannot be seen show as in the workbook: some readers end at a NUL.
 */
export function escapeCsvField(text: string): string {
  if (text === '') return text;
  const shown = showUnseen(text).toWellFormed();
  const safe = isFormula(text) ? `'${shown}` : shown;
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
