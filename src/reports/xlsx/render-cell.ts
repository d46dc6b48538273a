import type { WallTime } from '../../domain/calendar.ts';
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

const DAY_MS = 86_400_000;
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

function renderText(address: string, text: string | null, style: StyleName): string {
  if (text === null || text === '') return `<c r="${address}" s="${STYLE_INDEX[style]}"/>`;
  const quoted =
    style === 'text' ? STYLE_INDEX.quotedText : style === 'wrapped' ? STYLE_INDEX.quotedWrapped : undefined;
  const index = quoted !== undefined && /^[=+\-@'\t\r]/.test(text) ? quoted : STYLE_INDEX[style];
  return `<c r="${address}" s="${index}" t="inlineStr"><is><t xml:space="preserve">${escapeText(text)}</t></is></c>`;
}

function renderNumber(address: string, value: string | null, style: StyleName, formula: string | undefined): string {
  const index = STYLE_INDEX[style];
  if (formula !== undefined) {
    return `<c r="${address}" s="${index}"><f>${escapeText(formula)}</f><v>${value ?? '0'}</v></c>`;
  }
  return value === null ? `<c r="${address}" s="${index}"/>` : `<c r="${address}" s="${index}"><v>${value}</v></c>`;
}

/** A wall clock as a spreadsheet counts it: days since 1899-12-30, without a time zone. */
function toSerial(wall: WallTime | null): string | null {
  if (wall === null) return null;
  const seconds = Number(wall.slice(11, 13)) * 3600 + Number(wall.slice(14, 16)) * 60 + Number(wall.slice(17, 19));
  return String(numberDay(wall.slice(0, 10)) + seconds / SECONDS_A_DAY);
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
 * spreadsheets write it, and text of that form is escaped.
 */
export function escapeText(text: string): string {
  const short = text.length > TEXT_LENGTH_MAX ? text.slice(0, TEXT_LENGTH_MAX) : text;
  if (!NEEDS_ESCAPE.test(short)) return short;
  return showUnseen(short)
    .slice(0, TEXT_LENGTH_MAX)
    .toWellFormed()
    .replace(/_x([0-9A-Fa-f]{4})_/g, '_x005F_x$1_')
    .replace(/[\uFFFE\uFFFF]/g, '\uFFFD')
    .replaceAll('\r', '_x000D_')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** `A`, `B` … `Z`, `AA`: the letters of a column, counted from 0. */
export function columnName(index: number): string {
  const rest = Math.floor(index / 26);
  return (rest > 0 ? columnName(rest - 1) : '') + String.fromCharCode(65 + (index % 26));
}
