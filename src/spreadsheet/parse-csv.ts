import { message } from '../texts/messages.ts';
import { type SheetRow, UnreadableFileError } from './row.ts';

/** A file that people import has ten. */
const FIELDS_MAX = 1_000;
/** The characters that a cell of Excel may have. */
export const FIELD_CHARS_MAX = 32_767;

/**
 * Parses a CSV. A field in quotes may hold separators, quotes in pairs, and ends of lines.
 * @returns a row for each record, with the number of the line on which it begins.
 * @throws UnreadableFileError where quotes have no end, or close before the end of their field: the field would hold the rows
 *   after it; and for a record of more than FIELDS_MAX fields,
 *   or a field of more than FIELD_CHARS_MAX characters.
 */
export function* parseCsv(text: string, separator: string): Generator<SheetRow, void, undefined> {
  let line = 1;
  let position = 0;
  while (position < text.length) {
    const cells: SheetRow['cells'] = [];
    const number = line;
    for (;;) {
      const field = readField(text, { position, line }, separator);
      if (field.text.length > FIELD_CHARS_MAX)
        throw new UnreadableFileError(message('file.field_long', { line, n: FIELD_CHARS_MAX }));
      cells.push(field.text === '' ? undefined : { kind: 'text', text: field.text, isFormula: false });
      line += field.lines;
      position = field.end;
      if (text[position] !== separator) break;
      if (cells.length === FIELDS_MAX)
        throw new UnreadableFileError(message('file.fields_many', { line: number, n: FIELDS_MAX }));
      position++;
    }
    if (text[position] === '\r' && text[position + 1] === '\n') position++;
    position++;
    line++;
    yield { number, cells };
  }
}

/** @returns where the field ends, and the ends of lines within it. */
function readField(text: string, start: { position: number; line: number }, separator: string) {
  if (text[start.position] === '"') return readQuoted(text, start, separator);
  let end = start.position;
  // a longer one is refused
  const last = start.position + FIELD_CHARS_MAX;
  while (end <= last && !isFieldEnd(text, end, separator)) end++;
  return { text: text.slice(start.position, end), end, lines: 0 };
}

function readQuoted(text: string, { position, line }: { position: number; line: number }, separator: string) {
  const parts: string[] = [];
  for (let begin = position + 1; ; ) {
    const quote = text.indexOf('"', begin);
    if (quote < 0) throw new UnreadableFileError(message('file.quotes_open', { line }));
    parts.push(text.slice(begin, quote));
    if (text[quote + 1] === '"') {
      begin = quote + 2;
      continue;
    }
    const field = parts.join('"');
    const lines = field.split('\n').length - 1;
    if (!isFieldEnd(text, quote + 1, separator))
      throw new UnreadableFileError(message('file.quotes_text', { line: line + lines }));
    return { text: field, end: quote + 1, lines };
  }
}

function isFieldEnd(text: string, position: number, separator: string): boolean {
  const char = text[position];
  return char === undefined || char === separator || char === '\n' || char === '\r';
}
