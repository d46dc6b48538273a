import type { Message } from '../domain/errors.ts';
import { describeSaid, type Said } from '../texts/messages.ts';

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
  readonly said: Said;

  /** @param what a text for damage inside of a file, which only English has. */
  constructor(what: Message | string, options?: ErrorOptions) {
    const said = typeof what === 'string' ? what : [what];
    super(describeSaid(said), options);
    this.said = said;
  }
}
