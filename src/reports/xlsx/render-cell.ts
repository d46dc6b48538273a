import { DAY_MS, type WallTime } from '../../domain/calendar.ts';
import { escapeMarkup } from '../../domain/language/escape-markup.ts';
import { showUnseen } from '../../domain/language/show-unseen.ts';
import { formatAmount } from '../../domain/money.ts';
import { STYLE_INDEX, type StyleName } from './render-styles.ts';

/**
 * The content of a cell. Money is cents and is divided by 100 only here, as text: no float stands between the ledger and
 * the file. A moment is the provider's wall clock, shown as given. Formulas are never data: cells of data are typed as
 * text, so a spreadsheet reads none of them as a formula.
 */
export type Cell =
  | { text: string | null; style?: StyleName }
  | { cents: bigint | null; style?: StyleName; formula?: string }
  | { count: number | null; style?: StyleName; formula?: string }
  | { moment: WallTime | null; style?: StyleName }
  | { day: string | null; style?: StyleName }
  | undefined;

const SECONDS_A_DAY = 86_400;
/** 1970-01-01 in a spreadsheet's days. */
const EPOCH_DAYS = 25_569;
/** Excel's limit for one cell. */
const TEXT_LENGTH_MAX = 32_767;

/** The XML of one cell at `address` (`B7`); empty for `undefined`. */
export function renderCell(address: string, cell: Cell): string {
  if (cell === undefined) return '';
  if ('text' in cell) return renderText(address, cell.text, cell.style ?? 'text');
  if ('cents' in cell) {
    const value = cell.cents === null ? null : formatAmount(cell.cents);
    return renderNumber(address, value, cell.style ?? 'money', cell.formula);
  }
  if ('count' in cell) {
    const value = cell.count === null ? null : String(cell.count);
    return renderNumber(address, value, cell.style ?? 'count', cell.formula);
  }
  if ('moment' in cell) return renderNumber(address, toSerial(cell.moment), cell.style ?? 'moment', undefined);
  return renderNumber(address, toSerial(cell.day && `${cell.day} 00:00:00`), cell.style ?? 'day', undefined);
}

/** Follows a cell's address, by style: a cell of text, of a number, and an empty one. */
const OPEN_TEXT = mapStyles((index) => `" s="${index}" t="inlineStr"><is><t>`);
/** Opens a text with blanks at an end, or with several lines. Said of every text it was a fifth of a sheet. */
const OPEN_BLANK_TEXT = mapStyles((index) => `" s="${index}" t="inlineStr"><is><t xml:space="preserve">`);
const OPEN_NUMBER = mapStyles((index) => `" s="${index}"><v>`);
const EMPTY = mapStyles((index) => `" s="${index}"/>`);
const FORMULA_START = "=+-@'\t\r";

function mapStyles(render: (index: number) => string): Record<StyleName, string> {
  const rendered = Object.entries(STYLE_INDEX).map(([name, index]) => [name, render(index)]);
  return Object.fromEntries(rendered) as Record<StyleName, string>; // one for each style
}

function renderText(address: string, text: string | null, style: StyleName): string {
  if (text === null || text === '') return `<c r="${address}${EMPTY[style]}`;
  const escaped = escapeText(text);
  const open = hasBlanks(escaped) ? OPEN_BLANK_TEXT : OPEN_TEXT;
  return `<c r="${address}${open[quote(text, style)]}${escaped}</t></is></c>`;
}

/** Whether a reader of XML may drop blanks of this text. */
function hasBlanks(text: string): boolean {
  return isBlank(text.charCodeAt(0)) || isBlank(text.charCodeAt(text.length - 1)) || text.includes('\n');
}

function isBlank(code: number): boolean {
  return code <= 0x20;
}

/** The style that keeps a text a text when a person edits the cell. */
function quote(text: string, style: StyleName): StyleName {
  if ((style !== 'text' && style !== 'wrapped') || !FORMULA_START.includes(text.charAt(0))) return style;
  return style === 'text' ? 'quotedText' : 'quotedWrapped';
}

function renderNumber(address: string, value: string | null, style: StyleName, formula: string | undefined): string {
  if (formula !== undefined) {
    return `<c r="${address}" s="${STYLE_INDEX[style]}"><f>${escapeText(formula)}</f><v>${value ?? '0'}</v></c>`;
  }
  return value === null ? `<c r="${address}${EMPTY[style]}` : `<c r="${address}${OPEN_NUMBER[style]}${value}</v></c>`;
}

const SERIALS_MAX = 1_024;
const serials = new Map<string, string>();

/**
 * A wall clock as a spreadsheet counts it: days since 1899-12-30, without a time zone. Rows of a sheet are in the order of time
 * and share most moments, and seventeen digits of a fraction take a while to print.
 */
function toSerial(wall: WallTime | null): string | null {
  if (wall === null) return null;
  const known = serials.get(wall);
  if (known !== undefined) return known;
  const seconds = Number(wall.slice(11, 13)) * 3600 + Number(wall.slice(14, 16)) * 60 + Number(wall.slice(17, 19));
  const serial = String(numberDay(wall.slice(0, 10)) + seconds / SECONDS_A_DAY);
  if (serials.size >= SERIALS_MAX) serials.clear();
  serials.set(wall, serial);
  return serial;
}

let lastDay = '';
let lastNumber = 0;

/** A day as a spreadsheet counts it. Most moments of a sheet are of one day: parsing each took 4 % of the time of a whole report. */
export function numberDay(day: string): number {
  if (day !== lastDay) {
    lastNumber = Date.parse(`${day}T00:00:00Z`) / DAY_MS + EPOCH_DAYS;
    lastDay = day;
  }
  return lastNumber;
}

const NEEDS_ESCAPE = /[&<>"\p{Cc}\p{Cs}\p{DI}\p{Zl}\p{Zp}\uFFF9-\uFFFB\uFFFE\uFFFF]|_x[0-9A-Fa-f]{4}_/u;

/**
 * Escapes text for XML, with characters that cannot be seen as `⟨U+202E⟩`. A carriage return becomes `_x000D_`, as
 * spreadsheets write it, and text of that form is escaped. One that is too long for a cell ends in `…`.
 */
export function escapeText(text: string): string {
  const short = cut(text);
  if (!NEEDS_ESCAPE.test(short)) return short;
  const seen = cut(showUnseen(short))
    .toWellFormed()
    .replace(/_x([0-9A-Fa-f]{4})_/g, '_x005F_x$1_')
    .replace(/[\uFFFE\uFFFF]/g, '\uFFFD')
    .replaceAll('\r', '_x000D_');
  return escapeMarkup(seen).replaceAll('"', '&quot;');
}

function cut(text: string): string {
  return text.length > TEXT_LENGTH_MAX ? `${text.slice(0, TEXT_LENGTH_MAX - 1)}…` : text;
}

/** `A`, `B` … `Z`, `AA`: the letters of a column, counted from 0. */
export function columnName(index: number): string {
  const rest = Math.floor(index / 26);
  return (rest > 0 ? columnName(rest - 1) : '') + String.fromCharCode(65 + (index % 26));
}
