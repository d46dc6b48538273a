/**
 * A cell as it is stored: of a number its decimal text, such as `1234.5`. `date`: a number that the cell's format shows as a date
 * or a time. `isFormula`: the value was computed by a formula.
 */
export type SheetCell = { kind: 'number' | 'date' | 'text' | 'other'; text: string; isFormula: boolean };

/** A row of a sheet. `number` counts from 1; a column without a cell is missing. `isHidden`: a person does not see it. */
export type SheetRow = { number: number; cells: (SheetCell | undefined)[]; isHidden?: boolean };

/** A file that is no readable spreadsheet. The message names the part, never a value of a cell. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError';
}
