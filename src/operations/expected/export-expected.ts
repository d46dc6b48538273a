/** The files of expected payments: with the columns of its import first, so that they can come back. */
import type { Caller } from '../../access/tokens.ts';
import type { Context } from '../../context.ts';
import { formatWallTime, type Language } from '../../domain/language/language.ts';
import { parseSum } from '../../domain/money.ts';
import { splitAmount } from '../../expected/decide/split-amount.ts';
import { type ExpectedFilters, sumExpected } from '../../expected/read/filter-expected.ts';
import type { PresentedExpected } from '../../expected/read/list-expected.ts';
import { countRivals } from '../../expected/read/read-competing.ts';
import {
  COMPUTED,
  DECIDED_IN_PAGES,
  EXPECTED,
  guard,
  joinCell,
  ORDER_OPERATIONS,
} from '../../imports/kinds/expected.ts';
import { BOM, LINE_END, renderField } from '../../reports/render/formats/write-csv.ts';
import { EXPORT_ROWS_MAX, renderingOf, writeSheet } from '../../reports/serve/export-found.ts';
import type { Cell } from '../../reports/xlsx/render-cell.ts';
import { describeCode, fill } from '../../texts/fill.ts';
import { describeSaid } from '../../texts/messages.ts';
import { formatLocalCount, textsOf } from '../../texts/reports/texts.ts';
import { readList } from '../define-list.ts';
import { readPlatformNames } from '../mask-texts.ts';
import { expectedPayments, limitToCaller } from './read-expected.ts';

const PAGE_ROWS = 1_000;
/** The width of a column, in characters. */
const WIDTHS = { text: 24, money: 14, day: 12, count: 10 } as const;
const ID_WIDTH = 38;
/** Beside a title: its margins, and the arrow of its filter. */
const TITLE_MARGIN = 4;
const TYPES: Partial<Record<string, keyof typeof WIDTHS>> = {
  ...{
    amount: 'money',
    paid: 'money',
    refunded: 'money',
    difference: 'money',
    owed: 'money',
    surplus: 'money',
    not_owed: 'money',
  },
  ...{ due_day: 'day', issued_day: 'day', valid_until: 'day', paid_day: 'day', late_days: 'count', rivals: 'count' },
};
const WORDS = {
  'pt-BR': { title: 'Pedidos', note: 'Os {max} mais novos, no máximo: o CSV tem todos. Relógio do provedor ({zone}).' },
  en: { title: 'Orders', note: 'The newest {max} at most: the CSV has all. Provider clock ({zone}).' },
} as const;

const RULE_WORDS = new Map<string, Record<Language, string>>([
  ['reference', { 'pt-BR': 'referência', en: 'reference' }],
  ['e2e_id', { 'pt-BR': 'id E2E', en: 'E2E id' }],
  ['invoice', { 'pt-BR': 'nota fiscal', en: 'invoice' }],
  ['extra', { 'pt-BR': 'extra', en: 'extra' }],
  ['document', { 'pt-BR': 'documento e valor', en: 'document and amount' }],
]);

const text = (value: string | null): Cell => ({ text: value });
const money = (value: string): Cell => ({ cents: parseSum(value) ?? null });
const split = ({ state, amount, paid }: { state: string; amount: string; paid: string }) =>
  splitAmount({ state, amountCents: parseSum(amount) ?? 0n, settledCents: parseSum(paid) ?? 0n });
const list = (values: readonly string[]): Cell => text(joinCell(values));

type Exported = Omit<PresentedExpected, 'operation' | 'state' | 'decided' | 'disputed'> & {
  operation: string;
  state: string;
  decided: string;
  disputed: string;
  disputed_by: string[];
  rivals: number;
  platform_name: string | null;
} & ReturnType<typeof split>;

const GIVEN: Record<string, (row: Exported) => Cell> = {
  source: (row) => text(row.source),
  number: (row) => text(row.number),
  operation: (row) => text(row.operation),
  amount: (row) => money(row.amount),
  due_day: (row) => ({ day: row.due_day }),
  issued_day: (row) => ({ day: row.issued_day }),
  valid_until: (row) => ({ day: row.valid_until }),
  platform: (row) => text(row.platform),
  references: (row) => list(row.references),
  e2e_ids: (row) => list(row.e2e_ids),
  extra: (row) => text(row.extra),
  document: (row) => text(row.document),
  name: (row) => text(row.name),
  description: (row) => text(row.description),
  invoice_key: (row) => text(row.invoice_key),
};
const FOUND: Record<keyof typeof COMPUTED, (row: Exported) => Cell> = {
  id: (row) => text(row.id),
  state: (row) => text(row.state),
  reason: (row) => text(row.reason_code),
  paid: (row) => money(row.paid),
  refunded: (row) => money(row.refunded),
  difference: (row) => money(row.difference),
  late_days: (row) => ({ count: row.late_days }),
  payments: (row) => list(row.matches.map((one) => one.transaction_id)),
  decided: (row) => text(row.decided),
  matched_to: (row) => text(row.matched_to),
  paid_day: (row) => ({ day: row.paid_day }),
  owed: (row) => ({ cents: row.owedCents }),
  surplus: (row) => ({ cents: row.surplusCents }),
  not_owed: (row) => ({ cents: row.notOwedCents }),
  platform_name: (row) => text(row.platform_name),
  disputed: (row) => text(row.disputed),
  disputed_by: (row) => list(row.disputed_by),
  rivals: (row) => ({ count: row.rivals }),
};

/** A reason in words; days that are not proven stand in no column. */
function sayReason(code: string, language: Language): string {
  return code.startsWith('not_proven')
    ? textsOf(language).orderStates.not_proven
    : describeSaid([{ name: `expected.${code}`, values: {} }], language);
}

function sayWhether(is: string, language: Language): string {
  return textsOf(language).evidence[is === 'true' ? 'yes' : 'no'];
}

type Wanted = { filter: ExpectedFilters; caller: Caller; via?: 'console' | 'portal' };

/**
 * Opens the columns and the rows of a file, page by page; masked where the caller sees no persons. The pages' have words
 * in the place of codes, and the provider's wall clock; all can be imported, and change nothing.
 */
async function openExport(context: Context, wanted: Wanted) {
  const { calendar } = context;
  const language = context.config.REPORT_LOCALE;
  const inWords = (row: Exported): Exported => ({
    ...row,
    operation: ORDER_OPERATIONS[row.operation === 'cashout' ? 'cashout' : 'cashin'][language],
    state: describeCode(textsOf(language).orderStates, row.state),
    decided: sayWhether(row.decided, language),
    disputed: sayWhether(row.disputed, language),
    disputed_by: row.disputed_by.map((rule) => RULE_WORDS.get(rule)?.[language] ?? rule),
    reason_code: row.reason_code && sayReason(row.reason_code, language),
    matched_to: row.matched_to && formatWallTime(calendar.toWallTime(new Date(row.matched_to)), language),
  });
  // a merchant has no names of ours
  const isOwn = wanted.caller.sources !== undefined;
  const names = isOwn ? new Map<string, string>() : await readPlatformNames(context.db, wanted.caller);
  const computed = (Object.keys(FOUND) as (keyof typeof COMPUTED)[]).filter(
    (name) => !isOwn || name !== 'platform_name',
  );
  const shown = wanted.via ? { ...COMPUTED, decided: DECIDED_IN_PAGES } : COMPUTED;
  const columns = [
    ...Object.entries(GIVEN).map(([name, cell]) => ({
      ...{ name, title: EXPECTED.columns[name]?.titles[language] ?? name, cell },
    })),
    ...computed.map((name) => ({ ...{ name, title: shown[name][language], cell: FOUND[name] } })),
  ];
  async function* readPages(rowsMax: number): AsyncGenerator<Exported[], void, undefined> {
    let after: number | undefined;
    for (let count = 0; count < rowsMax; count += PAGE_ROWS) {
      const page = { limit: Math.min(PAGE_ROWS, rowsMax - count), after };
      const { rows, next } = await readList(context, expectedPayments, { ...wanted, page });
      const rivals = await countRivals(
        context.db,
        rows.flatMap(({ id, disputed }) => (disputed ? [id] : [])),
      );
      yield rows.map((row) => {
        const disputes = row.candidates.filter(({ reason }) => reason === 'not_unique');
        const given = {
          ...{ ...row, ...split(row), decided: String(row.decided), disputed: String(row.disputed) },
          platform_name: names.get(row.platform ?? '') ?? null,
          disputed_by: [...new Set(disputes.map(({ rule }) => rule))],
          rivals: rivals.get(row.id) ?? 0,
        };
        return wanted.via ? inWords(given) : given;
      });
      if (next === undefined) return;
      after = next;
    }
  }
  return { columns, readPages };
}

function guardCell(cell: Cell): Cell {
  return cell && 'text' in cell ? { ...cell, text: cell.text && guard(cell.text) } : cell;
}

/** Yields the CSV page by page: `;`, decimal comma, UTF-8 with BOM, CRLF. */
export async function* renderExpectedCsv(context: Context, wanted: Wanted): AsyncGenerator<string, void, undefined> {
  const { columns, readPages } = await openExport(context, wanted);
  let head = `${BOM}${columns.map(({ title }) => title).join(';')}${LINE_END}`;
  // not before the first page: it may be refused
  for await (const rows of readPages(Number.POSITIVE_INFINITY)) {
    yield head +
      rows.map((row) => columns.map(({ cell }) => renderField(guardCell(cell(row)))).join(';') + LINE_END).join('');
    head = '';
  }
}

/** Writes a workbook of the newest ones, up to EXPORT_ROWS_MAX, and passes its file to `use`; then the file is deleted. */
export async function writeExpectedWorkbook(
  context: Context,
  { signal, ...wanted }: Wanted & { signal: AbortSignal },
  use: (file: string) => Promise<void>,
): Promise<void> {
  const { columns, readPages } = await openExport(context, wanted);
  const rendering = renderingOf(context, new Map());
  const { title, note } = WORDS[context.config.REPORT_LOCALE];
  const max = formatLocalCount(EXPORT_ROWS_MAX, rendering.texts);
  const sheet = { title, note: fill(note, { max, zone: context.calendar.zone }), rendering, signal };
  const sums = await sumExpected(context, await limitToCaller(context, wanted.caller, wanted.filter), EXPORT_ROWS_MAX);
  // what is received and what is paid make no sum
  const isSummed = new Set(sums.map(({ operation }) => operation)).size === 1;
  const typed = columns.map((column) => {
    const type = TYPES[column.name] ?? 'text';
    const width = Math.max(column.name === 'id' ? ID_WIDTH : WIDTHS[type], column.title.length + TITLE_MARGIN);
    const cell = (row: Exported): Cell => guardCell(column.cell(row));
    return { ...column, cell, type, width, ...(type === 'money' && isSummed && { totals: true as const }) };
  });
  await writeSheet(context, { ...sheet, columns: typed, pages: readPages(EXPORT_ROWS_MAX) }, use);
}
