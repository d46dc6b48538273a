/**
 * Reads the rows of any sheet by the streaming reader of exceljs, which is imported when it is used. Its class for one sheet
 * is used alone: its class for a workbook writes sheets to temporary files, unpacks without a limit, and splits letters that
 * stand across two chunks.
 *
 * exceljs reads a number as a double. The shortest decimal text of a double of up to 15 digits is the number that was stored,
 * and that a spreadsheet program shows: it stores 1.1 as `1.1000000000000001`.
 */
import type { Cell } from 'exceljs';
import { decodeText, type SheetFacts, type Workbook } from './open-workbook.ts';
import { type SheetCell, type SheetRow, UnreadableFileError } from './row.ts';

const NO_STYLES = { getStyleModel: () => undefined };
const OPTIONS = { worksheets: 'emit', sharedStrings: 'cache', hyperlinks: 'ignore', styles: 'ignore' };

/** @param sharedTexts as `readSharedTexts` returns them. @throws UnreadableFileError. */
export async function* readSheet(
  { zip }: Pick<Workbook, 'zip'>,
  { part }: Pick<SheetFacts, 'part'>,
  sharedTexts: string[] = [],
): AsyncGenerator<SheetRow, void, undefined> {
  const { default: WorksheetReader } = await import('exceljs/lib/stream/xlsx/worksheet-reader.js');
  const reader = new WorksheetReader({
    workbook: { sharedStrings: sharedTexts, styles: NO_STYLES, properties: {} },
    id: 1,
    iterator: decodeText(zip.open(part)),
    options: OPTIONS,
  });
  try {
    for await (const row of reader) {
      const cells: (SheetCell | undefined)[] = [];
      row.eachCell((cell, column) => {
        cells[column - 1] = toCell(cell);
      });
      yield { number: row.number, cells };
    }
  } catch (error) {
    if (error instanceof UnreadableFileError) throw error;
    // of exceljs and its XML parser: it may quote a text of the file
    throw new UnreadableFileError(`the part ${part} is no readable sheet`, { cause: error });
  }
}

/** The texts that the cells of a workbook share, by number. @throws UnreadableFileError. */
export async function readSharedTexts({ zip, sharedStrings }: Workbook, textsMax: number): Promise<string[]> {
  if (sharedStrings === undefined) return [];
  const { default: parseSax } = await import('exceljs/lib/utils/parse-sax.js');
  const texts: string[] = [];
  let text = '';
  let isText = false;
  let isPhonetic = false;
  try {
    for await (const events of parseSax(decodeText(zip.open(sharedStrings)))) {
      for (const { eventType, value } of events) {
        if (eventType === 'text') {
          if (isText && !isPhonetic) text += value;
          continue;
        }
        const isOpen = eventType === 'opentag';
        if (value.name === 't') isText = isOpen;
        else if (value.name === 'rPh') isPhonetic = isOpen;
        else if (value.name === 'si' && isOpen) text = '';
        else if (value.name === 'si' && texts.push(text) > textsMax)
          throw new UnreadableFileError(`it has more than ${textsMax} texts`);
      }
    }
  } catch (error) {
    if (error instanceof UnreadableFileError) throw error;
    throw new UnreadableFileError('the shared texts cannot be read', { cause: error });
  }
  return texts;
}

function toCell(cell: Cell): SheetCell | undefined {
  const { value } = cell;
  if (value === null || value === undefined) return undefined;
  const isFormula = typeof value === 'object' && 'formula' in value;
  // the value of a formula leaves a result of 0 out
  const content: unknown = isFormula ? cell.result : value;
  if (typeof content === 'number') return { kind: 'number', text: String(content), isFormula };
  if (typeof content === 'string') return { kind: 'text', text: content, isFormula };
  return { kind: 'other', text: '', isFormula };
}
