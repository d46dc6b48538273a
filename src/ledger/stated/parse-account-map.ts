import type { GivenMap } from './account-map.ts';
import { type AccountFault, LEDGER_ACCOUNTS, type MappedAccount } from './check-accounts.ts';

/** The columns of the file, in the order in which `renderAccountMap` writes them. */
const COLUMNS = {
  conta: 'account',
  plataforma: 'platform',
  código: 'code',
  categoria: 'category',
  'centro de custo': 'cost_center',
  histórico: 'history',
} as const satisfies Record<string, keyof MappedAccount>;
const NAMES = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];
const HEADER = NAMES.join(';');
const FIELD = /;(?:"((?:[^"]|"")*)"|([^;]*))/g;

/**
 * Parses the CSV of a map: `;`, a header of `conta;plataforma;código;categoria;centro de custo;histórico`, where only `conta`
 * is required, as the first. A row without any text but its account is one still to be filled in: it is skipped.
 * @returns the rows, the faults found so far, and the names of fields: `line 4, código`.
 */
export function parseAccountMap(text: string): Required<GivenMap> {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const accounts: MappedAccount[] = [];
  const numbers: number[] = [];
  const nameField = (row: number, field: string): string => {
    const name = NAMES.find((one) => COLUMNS[one] === field) ?? field;
    return row < 0 ? 'line 1' : `line ${numbers[row] ?? lines.length}, ${name}`;
  };
  const fields = parseHeader(lines[0] ?? '');
  if (!fields) return { accounts, faults: [{ row: -1, field: 'account', kind: 'header', value: HEADER }], nameField };
  const faults: AccountFault[] = [];
  for (const [index, line] of lines.entries()) {
    const cells = splitLine(line);
    if (index === 0 || cells.slice(1).every((cell) => cell === '')) continue;
    const given = Object.fromEntries(fields.map((field, column) => [field, cells[column] || null]));
    const row = accounts.push({ ...EMPTY, ...given, account: given.account ?? '' }) - 1;
    numbers.push(index + 1);
    if (cells.length !== fields.length) faults.push({ row, field: 'account', kind: 'fields', value: cells.length });
  }
  return { accounts, faults, nameField };
}

const EMPTY: MappedAccount = {
  account: '',
  platform: null,
  code: null,
  category: null,
  cost_center: null,
  history: null,
};

/** Decodes a file: UTF-8, or windows-1252, in which Excel saves a CSV. */
export function decodeAccountMap(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** @returns the field of each column; undefined for another header. */
function parseHeader(line: string): (keyof MappedAccount)[] | undefined {
  const names = splitLine(line).map((name) => NAMES.find((one) => fold(one) === fold(name)));
  const isKnown = names.every((name) => name !== undefined);
  if (!isKnown || new Set(names).size < names.length || names[0] !== 'conta') return undefined;
  return names.map((name) => COLUMNS[name]);
}

/** Without case and accents. */
function fold(name: string): string {
  return name.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '');
}

function splitLine(line: string): string[] {
  return [...`;${line}`.matchAll(FIELD)].map(([, quoted, plain]) =>
    (quoted?.replaceAll('""', '"') ?? plain ?? '').trim(),
  );
}

/** Writes a map as `parseAccountMap` reads it, with a row to be filled in for each account without one. */
export function renderAccountMap(accounts: MappedAccount[]): string {
  const missing = LEDGER_ACCOUNTS.filter((account) => !accounts.some((row) => row.account === account));
  const rows = [...accounts, ...missing.map((account) => ({ ...EMPTY, account }))];
  const lines = rows.map((row) => NAMES.map((name) => quote(row[COLUMNS[name]] ?? '')).join(';'));
  return `${[HEADER, ...lines].join('\n')}\n`;
}

function quote(text: string): string {
  return /[";]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
