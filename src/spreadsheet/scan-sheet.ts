/**
 * Reads the rows of a sheet as `src/reports/xlsx` writes them: rows and cells in order, texts inline. It refuses any other
 * form, so a part that it does not understand is a fault and never skipped. It keeps one chunk of text at a time.
 */
import { decodeXML } from 'entities';
import { countColumns } from './read-sheet.ts';
import { type SheetCell, type SheetRow, UnreadableFileError } from './row.ts';

const START = '<sheetData>';
const END = '</sheetData>';
const ROW_END = '</row>';
const ROW = /<row r="(\d+)"(?: [A-Za-z]+="[^"]*")*>/y;
const CELL =
  /<c r="([A-Z]{1,3})(\d+)"(?: s="\d+")?(?: t="(inlineStr)")?(?:\/>|>(<f>[^<]*<\/f>)?(?:<v>([^<]*)<\/v>|<is><t(?: xml:space="preserve")?>([^<]*)<\/t><\/is>)<\/c>)/y;
/** Far more than a row of the widest sheet. */
const ROW_CHARS_MAX = 4 * 1024 * 1024;

/** @param chunks the text of the sheet's part. @throws UnreadableFileError. */
export async function* scanSheet(chunks: AsyncIterable<string>): AsyncGenerator<SheetRow, void, undefined> {
  let text = '';
  let state: 'before' | 'rows' | 'after' = 'before';
  for await (const chunk of chunks) {
    if (state === 'after') continue;
    text += chunk;
    if (state === 'before') {
      const start = text.indexOf(START);
      if (start < 0) continue;
      text = text.slice(start + START.length);
      state = 'rows';
    }
    let position = 0;
    for (;;) {
      const end = text.indexOf(ROW_END, position);
      if (end < 0) break;
      if (text.startsWith(END, position)) break;
      yield scanRow(text, position, end);
      position = end + ROW_END.length;
    }
    text = text.slice(position);
    if (text.startsWith(END)) state = 'after';
    else if (text.length > ROW_CHARS_MAX) throw new UnreadableFileError('a row has no end');
  }
  if (state !== 'after') throw new UnreadableFileError('the sheet was cut off');
}

/** @param end where the row's own end stands. */
function scanRow(text: string, start: number, end: number): SheetRow {
  ROW.lastIndex = start;
  const head = ROW.exec(text);
  if (!head?.[1]) throw new UnreadableFileError('a row is damaged');
  const number = Number(head[1]);
  const cells: (SheetCell | undefined)[] = [];
  let position = ROW.lastIndex;
  while (position < end) {
    CELL.lastIndex = position;
    const cell = CELL.exec(text);
    if (!cell || Number(cell[2]) !== number) throw new UnreadableFileError(`row ${number} has a damaged cell`);
    position = CELL.lastIndex;
    const column = countColumns(cell[1] ?? '') - 1;
    if (column < cells.length) throw new UnreadableFileError(`row ${number} has cells out of order`);
    cells[column] = toCell(cell[3], cell[5], cell[6], cell[4] !== undefined);
  }
  if (position !== end) throw new UnreadableFileError(`row ${number} is damaged`);
  return { number, cells };
}

function toCell(
  type: string | undefined,
  value: string | undefined,
  text: string | undefined,
  isFormula: boolean,
): SheetCell | undefined {
  if (type === 'inlineStr') return { kind: 'text', text: decodeXML(text ?? ''), isFormula };
  return value === undefined ? undefined : { kind: 'number', text: value, isFormula };
}
