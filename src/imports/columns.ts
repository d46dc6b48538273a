/**
 * Types of columns: how a cell becomes a value. A number of a spreadsheet is taken by its decimal text, so no float holds
 * money, and one with more than two decimals is refused, never rounded.
 */
import { addDays, type Day, isDay, isWallTime, type WallTime } from '../domain/calendar.ts';
import { parseSignedAmount, parseWrittenAmount, type WrittenAmount } from '../domain/money.ts';
import type { SheetCell } from '../spreadsheet/row.ts';
import type { CellFault, ColumnFacts, Titles } from './import-kind.ts';

/** `is1904`: days of the file count from 1904. */
type CellContext = { is1904: boolean };

export type Column<Value> = ColumnFacts & {
  /** Its values are amounts. */
  isMoney?: true;
  /** Its values begin with a day. */
  isDay?: true;
  /** Its values are platforms, by their ids or names: a row has the id of a known name. */
  isPlatform?: true;
  /** A file that has the column has a value in each row. */
  isWhole?: boolean;
  /** A file may have it, such as one that we made; nothing of it is read. */
  isIgnored?: true;
  /** Parses a cell that is not empty. */
  parse(cell: SheetCell, context: CellContext): { value: Value } | { fault: CellFault };
};
// biome-ignore lint/suspicious/noExplicitAny: a column of any value
export type AnyColumn = Column<any>;

type Given = { titles: Titles; example: string; isRequired?: boolean; isWhole?: boolean };

/**
 * A number whose digits a spreadsheet dropped when it was saved: `4,51070E+11`, `1E+05`, `451,1e+9`. It always has the sign, which a
 * code such as `12E5` lacks.
 */
export const SCIENTIFIC = /^[+-]?\d{1,3}(?:[.,]\d{1,20})?E[+-]\d{1,3}$/i;
/** A double keeps decimals of up to 15 digits. */
const EXACT_DIGITS = 15;

/** @param given.check what is wrong with a text, if it is not any text. */
export function textColumn({
  isRequired = false,
  check,
  ...given
}: Given & { charsMax: number; check?: (text: string) => CellFault | undefined }): Column<string> {
  const { charsMax } = given;
  return {
    ...given,
    isRequired,
    hint: { 'pt-BR': `texto de até ${charsMax} caracteres`, en: `text of up to ${charsMax} characters` },
    parse({ kind, text }) {
      // a spreadsheet makes a date of a code such as 3-1-1
      if (kind === 'date') return { fault: { kind: 'is_date' } };
      // leading zeros of a number are lost; decimals may be a code such as 1.10
      if (kind === 'number' && !/^\d{1,15}$/.test(text)) return { fault: { kind: 'not_text' } };
      const value = text.trim();
      if (SCIENTIFIC.test(value)) return { fault: { kind: 'is_scientific' } };
      const fault: CellFault | undefined =
        value.length > charsMax ? { kind: 'too_long', value: charsMax } : check?.(value);
      return fault ? { fault } : { value };
    },
  };
}

/** A column that a person reads, and that the import leaves alone. */
export function shownColumn(given: Given): Column<null> {
  return {
    ...given,
    isRequired: false,
    hint: {
      'pt-BR': 'só para ler: o que se escreve aqui não muda nada',
      en: 'to be read: what is written here changes nothing',
    },
    parse: () => ({ value: null }),
  };
}

/** Cents, with a sign. */
export function moneyColumn(given: Given): Column<bigint> {
  const column = writtenColumn(given);
  return {
    ...column,
    parse(cell, context) {
      const parsed = column.parse(cell, context);
      return 'fault' in parsed ? parsed : { value: parsed.value.cents };
    },
  };
}

/** Cents, and whether a sign is written with them. */
export function writtenColumn({ isRequired = false, ...given }: Given): Column<WrittenAmount> {
  return {
    ...given,
    isRequired,
    hint: {
      'pt-BR': 'valor em reais, com - na frente ou D no fim se saiu',
      en: 'amount in BRL, with a leading - or a D at its end if it left',
    },
    isMoney: true,
    parse(cell) {
      const value = parseMoney(cell);
      return value === undefined ? { fault: { kind: 'not_money' } } : { value };
    },
  };
}

function parseMoney({ kind, text }: SheetCell): WrittenAmount | undefined {
  if (kind === 'text') return parseWrittenAmount(text);
  if (kind !== 'number' || text.replace(/[-.]/g, '').length > EXACT_DIGITS) return undefined;
  const cents = parseSignedAmount(text);
  return cents === undefined ? undefined : { cents, isSigned: cents < 0n };
}

export function dayColumn({ isRequired = false, ...given }: Given): Column<Day> {
  return {
    ...given,
    isRequired,
    isDay: true,
    hint: { 'pt-BR': 'dia: 2026-11-20, 20/11/2026 ou uma data', en: 'day: 2026-11-20, 20/11/2026 or a date' },
    parse(cell, context) {
      const wall = parseWall(cell, context);
      const isWhole = wall?.endsWith(' 00:00:00') && (cell.kind !== 'text' || !cell.text.includes(':'));
      return isWhole && wall ? { value: wall.slice(0, 10) } : { fault: { kind: 'not_day' } };
    },
  };
}

/** A moment on the provider's clock. */
export function momentColumn({ isRequired = false, ...given }: Given): Column<WallTime> {
  return {
    ...given,
    isRequired,
    isDay: true,
    hint: {
      'pt-BR': 'dia e hora no relógio do provedor: 2026-11-20 18:00:00 ou uma data com hora',
      en: "day and time on the provider's clock: 2026-11-20 18:00:00 or a date with its time",
    },
    parse(cell, context) {
      const value = parseWall(cell, context);
      // a spreadsheet stores a date alone as whole days
      const hasTime = cell.text.includes(cell.kind === 'text' ? ':' : '.');
      return value !== undefined && hasTime ? { value } : { fault: { kind: 'not_moment' } };
    },
  };
}

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{2}):(\d{2})(?::(\d{2}))?)?$/;
const LOCAL = /^(\d{2})\/(\d{2})\/(\d{4})(?: (\d{2}):(\d{2})(?::(\d{2}))?)?$/;

function parseWall({ kind, text }: SheetCell, { is1904 }: CellContext): WallTime | undefined {
  if (kind !== 'text') return fromSerial(text, is1904);
  const typed = text.trim();
  const local = LOCAL.exec(typed);
  const [, year, month, date, hour = '00', minute = '00', second = '00'] = local
    ? [local[0], local[3], local[2], local[1], local[4], local[5], local[6]]
    : (ISO.exec(typed) ?? []);
  const wall = `${year}-${month}-${date} ${hour}:${minute}:${second}`;
  return isWallTime(wall) && isDay(wall.slice(0, 10)) ? wall : undefined;
}

const SECONDS_A_DAY = 86_400;
/** 1900-03-01: before it a spreadsheet counts a 29 February that there was not. */
const SERIAL_MIN = 61;
/** The days between the two ways to count. */
const DAYS_TO_1904 = 1_462;
const SERIAL = /^\d{1,6}(?:\.\d+)?$/;

/** A date as a spreadsheet stores it: days since 1899-12-30, to the second. */
function fromSerial(text: string, is1904: boolean): WallTime | undefined {
  if (!SERIAL.test(text)) return undefined;
  const seconds = Math.round(Number(text) * SECONDS_A_DAY);
  const days = Math.floor(seconds / SECONDS_A_DAY) + (is1904 ? DAYS_TO_1904 : 0);
  if (days < SERIAL_MIN) return undefined;
  const day = addDays('1899-12-30', days);
  const time = new Date((seconds % SECONDS_A_DAY) * 1_000).toISOString().slice(11, 19);
  return isDay(day) ? `${day} ${time}` : undefined;
}

/** One of a few codes, by the code itself or by its word. */
export function choiceColumn<const Code extends string>({
  words,
  isRequired = false,
  ...given
}: Given & { words: Record<Code, Titles> }): Column<Code> {
  const codes = Object.keys(words) as Code[];
  const list = codes.map((code) => `${words[code]['pt-BR']} (${code})`).join(', ');
  return {
    ...given,
    isRequired,
    hint: {
      'pt-BR': codes.map((code) => words[code]['pt-BR']).join(', '),
      en: codes.map((code) => words[code].en).join(', '),
    },
    parse({ text }) {
      const typed = fold(text);
      const value = codes.find((code) =>
        [code, words[code]['pt-BR'], words[code].en].some((one) => fold(one) === typed),
      );
      return value === undefined ? { fault: { kind: 'not_choice', value: list } } : { value };
    },
  };
}

const FLAG = { yes: { 'pt-BR': 'sim', en: 'yes' }, no: { 'pt-BR': 'não', en: 'no' } } as const;

export function flagColumn(given: Given): Column<boolean> {
  const choice = choiceColumn({ ...given, words: FLAG });
  return {
    ...choice,
    parse(cell, context) {
      const parsed = choice.parse(cell, context);
      return 'fault' in parsed ? parsed : { value: parsed.value === 'yes' };
    },
  };
}

/** Without case, accents and outer blanks. */
export function fold(text: string): string {
  return text.trim().toLowerCase().normalize('NFD').replace(/\p{M}/gu, '');
}
