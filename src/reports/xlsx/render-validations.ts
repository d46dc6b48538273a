import { escapeText } from './render-cell.ts';

/** Values that cells take: those of a list (`"a,b"`, or cells by `referToCells`), or texts up to a length. `range`: one or several. */
export type Validation = { range: string } & ({ list: string } | { charsMax: number });

/** A text that a program shows beside a cell that is selected: a title of up to 32 characters, and up to 255. */
export type CellNote = { cell: string; title: string; text: string };

const PROMPT_CHARS_MAX = 255;
const TITLE_CHARS_MAX = 32;

/** Renders what cells take, and the notes beside cells. */
export function renderValidations(validations: Validation[], notes: CellNote[]): string {
  if (validations.length + notes.length === 0) return '';
  const rules = validations.map((one) => {
    const [type, formula] =
      'list' in one
        ? ['type="list"', one.list]
        : ['type="textLength" operator="lessThanOrEqual"', String(one.charsMax)];
    return `<dataValidation ${type} allowBlank="1" showErrorMessage="1" sqref="${one.range}"><formula1>${escapeText(formula)}</formula1></dataValidation>`;
  });
  const shown = notes.map(
    ({ cell, title, text }) =>
      `<dataValidation type="none" allowBlank="1" showInputMessage="1" promptTitle="${escapeText(title.slice(0, TITLE_CHARS_MAX))}" prompt="${escapeText(text.slice(0, PROMPT_CHARS_MAX))}" sqref="${cell}"/>`,
  );
  const each = [...rules, ...shown];
  return `<dataValidations count="${each.length}">${each.join('')}</dataValidations>`;
}
