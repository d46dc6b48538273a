import type { SheetRow } from './row.ts';

/** Decodes a CSV: UTF-8, else windows-1252, in which Excel saves one. */
export function decodeCsv(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/**
 * Parses a CSV. A field in quotes may hold separators, quotes in pairs, and ends of lines.
 * @returns a row for each record, with the number of the line on which it begins.
 */
export function* parseCsv(text: string, separator: string): Generator<SheetRow, void, undefined> {
  let line = 1;
  let position = 0;
  while (position < text.length) {
    const cells: SheetRow['cells'] = [];
    const number = line;
    for (;;) {
      const field = readField(text, position, separator);
      cells.push(field.text === '' ? undefined : { kind: 'text', text: field.text, isFormula: false });
      line += field.lines;
      position = field.end;
      if (text[position] !== separator) break;
      position++;
    }
    if (text[position] === '\r' && text[position + 1] === '\n') position++;
    position++;
    line++;
    yield { number, cells };
  }
}

/** @returns where the field ends, and the ends of lines within it. Text after a closing quote belongs to the field. */
function readField(text: string, start: number, separator: string): { text: string; end: number; lines: number } {
  let field = '';
  let position = start;
  if (text[start] === '"') {
    for (position = start + 1; position < text.length; position++) {
      if (text[position] !== '"') field += text[position];
      else if (text[position + 1] === '"') {
        field += '"';
        position++;
      } else {
        position++;
        break;
      }
    }
  }
  const quoted = field;
  const rest = position;
  while (position < text.length && text[position] !== separator && text[position] !== '\n' && text[position] !== '\r')
    position++;
  return { text: quoted + text.slice(rest, position), end: position, lines: quoted.split('\n').length - 1 };
}
