import { openWorkbook } from '../../src/spreadsheet/open-workbook.ts';
import { sourceOfBytes } from '../../src/spreadsheet/open-zip.ts';
import { readSheet } from '../../src/spreadsheet/read-sheet.ts';
import { readSharedTexts } from '../../src/spreadsheet/read-texts-and-styles.ts';
import type { SheetCell } from '../../src/spreadsheet/row.ts';

/** Reads the cells of a workbook's first sheet, row by row. */
export async function readWorkbook(bytes: Buffer): Promise<(SheetCell | undefined)[][]> {
  const workbook = await openWorkbook(sourceOfBytes(bytes), { partsMax: 50, unpackedBytesMax: 16 * 1024 * 1024 });
  const [sheet] = workbook.sheets;
  if (!sheet) throw new Error('no sheet');
  const rows = readSheet(workbook, sheet, { sharedTexts: await readSharedTexts(workbook, 10_000) });
  return await Array.fromAsync(rows, ({ cells }) => cells);
}
