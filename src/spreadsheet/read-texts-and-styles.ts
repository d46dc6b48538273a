import type { Workbook } from './open-workbook.ts';
import { readXml } from './read-xml.ts';
import { UnreadableFileError } from './row.ts';

/** The texts that the cells of a workbook share, by number; those that give the pronunciation are left out. @throws UnreadableFileError. */
export async function readSharedTexts({ zip, sharedStrings }: Workbook, textsMax: number): Promise<string[]> {
  const texts: string[] = [];
  if (sharedStrings === undefined || !zip.has(sharedStrings)) return texts;
  let text = '';
  let isText = false;
  for await (const events of readXml(zip, sharedStrings)) {
    for (const event of events) {
      if (event.kind === 'text') {
        if (isText) text += event.text;
      } else if (event.name === 't') isText = event.kind === 'open' && (event.parent === 'si' || event.parent === 'r');
      else if (event.name === 'si' && event.kind === 'open') text = '';
      else if (event.name === 'si' && texts.push(text) > textsMax)
        throw new UnreadableFileError(`it has more than ${textsMax} texts`);
    }
  }
  return texts;
}

/** Built-in formats of dates and times, by number. */
const DATE_FORMATS: readonly (readonly [number, number])[] = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58],
];
/** Excel allows 65,490 formats of cells. */
const STYLES_MAX = 65_536;
const FORMAT_CHARS_MAX = 255;

/** The numbers of the styles of a workbook that show a number as a date or a time. @throws UnreadableFileError. */
export async function readDateStyles({ zip, styles }: Workbook): Promise<ReadonlySet<string>> {
  const dates = new Set<string>();
  if (styles === undefined || !zip.has(styles)) return dates;
  const codes = new Map<number, string>();
  let count = 0;
  for await (const events of readXml(zip, styles)) {
    for (const event of events) {
      if (event.kind !== 'open') continue;
      const format = Number(event.attributes.numFmtId ?? 0);
      if (event.name === 'numFmt') codes.set(format, event.attributes.formatCode ?? '');
      if (event.name !== 'xf' || event.parent !== 'cellXfs') continue;
      const code = codes.get(format);
      const isBuiltIn = DATE_FORMATS.some(([from, to]) => from <= format && format <= to);
      if (code === undefined ? isBuiltIn : showsDate(code)) dates.add(String(count));
      if (++count > STYLES_MAX) throw new UnreadableFileError(`it has more than ${STYLES_MAX} styles`);
    }
  }
  return dates;
}

/** Whether the first part of a format has a letter of a date outside quotes, escapes and colors: `[$-416]dd/mm/yy`, `[h]:mm`. */
export function showsDate(code: string): boolean {
  let isQuoted = false;
  let bracket = '';
  const chars = [...code.slice(0, FORMAT_CHARS_MAX).toLowerCase()];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? '';
    if (char === '"') isQuoted = !isQuoted;
    if (isQuoted) continue;
    if (char === ']') {
      // elapsed time: [h], [mm], [ss]
      if (/^\[[hms]{1,255}$/.test(bracket)) return true;
      bracket = '';
    } else if (char === '[' || bracket !== '') bracket += char;
    else if (char === '\\' || char === '_' || char === '*') at++;
    else if (char === ';') return false;
    else if ('dmyhs'.includes(char)) return true;
  }
  return false;
}
