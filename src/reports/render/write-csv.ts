import { formatAmount } from '../../domain/money.ts';
import { formatMoment } from '../texts/texts.ts';
import type { Cell } from '../xlsx/render-cell.ts';
import type { RenderContext, ReportColumn, StatementRow } from './columns.ts';
import type { TextFile } from './open-text-file.ts';

const BOM = '\uFEFF';
const LINE_END = '\r\n';

/** Writes the header of the CSV: `;`, decimal comma, UTF-8 with BOM, CRLF. */
export function startCsv(file: TextFile, columns: ReportColumn<StatementRow>[], rendering: RenderContext): void {
  const names = columns.map((column) => escapeCsvField(rendering.texts.columns[column.name]));
  file.add(`${BOM}${names.join(';')}${LINE_END}`);
}

export function addCsvRow(
  file: TextFile,
  columns: ReportColumn<StatementRow>[],
  row: StatementRow,
  rendering: RenderContext,
): void {
  let line = '';
  for (let index = 0; index < columns.length; index++) {
    if (index > 0) line += ';';
    line += renderField(columns[index]?.cell(row, rendering));
  }
  file.add(line + LINE_END);
}

function renderField(cell: Cell): string {
  if (cell === undefined) return '';
  if ('text' in cell) return escapeCsvField(cell.text ?? '');
  if ('cents' in cell) return cell.cents === null ? '' : formatAmount(cell.cents).replace('.', ',');
  if ('moment' in cell) return cell.moment === null ? '' : formatMoment(cell.moment);
  if ('count' in cell) return cell.count === null ? '' : String(cell.count);
  return cell.day ?? '';
}

/** The start of a formula for a spreadsheet, full-width forms included: such a text gets an apostrophe. */
const FORMULA = /^[\s\p{Cc}]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/u;

/** A text field: never a formula for a spreadsheet; quoted if it holds a separator. */
export function escapeCsvField(text: string): string {
  if (text === '') return text;
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[";\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
