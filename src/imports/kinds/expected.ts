import { z } from 'zod';
import type { Context } from '../../context.ts';
import type { Message } from '../../domain/errors.ts';
import { showUnseen } from '../../domain/language/show-unseen.ts';
import { append } from '../../domain/lists.ts';
import { formatAmount } from '../../domain/money.ts';
import { expectedFactsSchema, expectedKeySchema, KEYS_MAX, NUMBER_CHARS_MAX } from '../../expected/expected-fields.ts';
import { type Arrival, isChange, type PutOutcome, putExpected } from '../../expected/put-expected.ts';
import { hasKey } from '../../expected/read/describe-state.ts';
import { isFormula } from '../../reports/render/formats/write-csv.ts';
import { FIELD_CHARS_MAX } from '../../spreadsheet/parse-csv.ts';
import { describeSaid, message, saidOfRule } from '../../texts/messages.ts';
import { refuse } from '../../texts/refuse.ts';
import { choiceColumn, dayColumn, moneyColumn, SCIENTIFIC, shownColumn, textColumn } from '../columns.ts';
import { countAsked } from '../count-asked.ts';
import { defineTable } from '../define-table.ts';
import { countUnseenPlatforms } from '../find-platforms.ts';
import { type ImportedOrders, type ImportedRow, type ImportFault, listRepeated, type Titles } from '../import-kind.ts';
import { LARGE_TABLE_LIMITS } from '../read-table.ts';
import { platformColumn } from './shared-columns.ts';

/** Rows that a preview shows. */
const ROWS_SHOWN = 20;
/** Rows that are stored together. */
const BATCH = 1_000;
/** Between the texts of a cell that may have several. */
const SEPARATOR = '|';
/** The columns of the export that Confere computes: `operations/export-expected.ts`. */
export const COMPUTED = {
  id: { 'pt-BR': 'id', en: 'id' },
  state: { 'pt-BR': 'estado', en: 'state' },
  reason: { 'pt-BR': 'motivo', en: 'reason' },
  paid: { 'pt-BR': 'pago', en: 'paid' },
  refunded: { 'pt-BR': 'devolvido', en: 'refunded' },
  difference: { 'pt-BR': 'diferença', en: 'difference' },
  late_days: { 'pt-BR': 'dias de atraso', en: 'late days' },
  payments: { 'pt-BR': 'transações', en: 'transactions' },
  decided: { 'pt-BR': 'decidido', en: 'decided' },
  matched_to: { 'pt-BR': 'com o que se sabia até', en: 'with what was known up to' },
  paid_day: { 'pt-BR': 'pago em', en: 'paid day' },
  owed: { 'pt-BR': 'falta', en: 'owed' },
  surplus: { 'pt-BR': 'pago a mais', en: 'paid in excess' },
  not_owed: { 'pt-BR': 'não mais devido', en: 'no longer owed' },
  platform_name: { 'pt-BR': 'nome da plataforma', en: 'platform name' },
  disputed: { 'pt-BR': 'em disputa', en: 'disputed' },
  disputed_by: { 'pt-BR': 'disputa por', en: 'disputed by' },
  rivals: { 'pt-BR': 'outros pedidos na disputa', en: 'other orders in dispute' },
} as const;

/** The title of `matched_to` in files of earlier versions. */
const MATCHED_TO_BEFORE = { 'pt-BR': 'decidido até', en: 'matched to' } as const;

/** The title of `decided` in the files of pages, whose readers decide about payments. */
export const DECIDED_IN_PAGES = { 'pt-BR': 'casamento em dia', en: 'matching up to date' } as const;

/** The words of operations in a file; an import takes them and the codes. */
export const ORDER_OPERATIONS = {
  cashin: { 'pt-BR': 'a receber', en: 'to receive' },
  cashout: { 'pt-BR': 'a pagar', en: 'to pay' },
} as const;

const column = (pt: string, en: string, example: string) =>
  textColumn({ titles: { 'pt-BR': pt, en }, charsMax: FIELD_CHARS_MAX, example });
const day = (pt: string, en: string, example: string) => dayColumn({ titles: { 'pt-BR': pt, en }, example });

/** A rule of a field, as its faults say it. */
function hintOf(rule: Message): Titles {
  return { 'pt-BR': describeSaid([rule], 'pt-BR'), en: describeSaid([rule]) };
}
const KEYS_HINT = {
  'pt-BR': `até ${KEYS_MAX} textos, com ${SEPARATOR} entre eles`,
  en: `up to ${KEYS_MAX} texts with ${SEPARATOR} between them`,
};

/** Expected payments: the orders of a shop, or what a company owes. A row takes the place of what its key had. */
export const EXPECTED = defineTable({
  titles: { 'pt-BR': 'Pagamentos esperados', en: 'Expected payments' },
  roles: ['operator', 'accountant'],
  isWholeState: true,
  limits: LARGE_TABLE_LIMITS,
  columns: {
    source: { ...column('origem', 'source', 'loja'), isRequired: true, hint: hintOf(message('field.source')) },
    number: {
      ...column('número', 'number', 'pedido-1024'),
      isRequired: true,
      hint: hintOf(message('field.number', { n: NUMBER_CHARS_MAX })),
    },
    operation: choiceColumn({
      titles: { 'pt-BR': 'operação', en: 'operation' },
      isRequired: true,
      words: ORDER_OPERATIONS,
      example: 'a receber',
    }),
    amount: moneyColumn({ titles: { 'pt-BR': 'valor', en: 'amount' }, isRequired: true, example: '199.90' }),
    due_day: { ...day('vencimento', 'due day', '2026-11-30'), isRequired: true },
    issued_day: day('emissão', 'issued day', '2026-11-20'),
    valid_until: day('válido até', 'valid until', ''),
    platform: platformColumn({ isRequired: false, example: 'Loja Centro' }),
    references: { ...column('referências', 'references', `pedido-1024 ${SEPARATOR} PED1024`), hint: KEYS_HINT },
    e2e_ids: { ...column('ids E2E', 'E2E ids', ''), hint: KEYS_HINT },
    extra: column('extra', 'extra', ''),
    document: { ...column('documento', 'document', ''), hint: hintOf(message('field.document')) },
    name: column('nome', 'name', 'Maria Souza'),
    description: column('descrição', 'description', ''),
    invoice_key: { ...column('chave da nota', 'invoice key', ''), hint: hintOf(message('field.invoice_key')) },
  },
  ignored: Object.fromEntries(
    Object.entries({ ...COMPUTED, decided_in_pages: DECIDED_IN_PAGES, matched_to_before: MATCHED_TO_BEFORE }).map(
      ([name, titles]) => [name, { ...shownColumn({ titles, example: '' }), isIgnored: true as const }],
    ),
  ),
  toValue(row) {
    const texts = Object.entries(row).map(([name, cell]) => [name, typeof cell === 'string' ? unguard(cell) : cell]);
    // cast: the same columns, each with a value of its kind
    const { source, number, amount, references, e2e_ids, ...facts } = Object.fromEntries(texts) as typeof row;
    const key = expectedKeySchema.safeParse({ source, number });
    const parsed = expectedFactsSchema.safeParse({
      ...facts,
      amount: amount === null ? null : formatAmount(amount),
      ...{ references: references && splitCell(references), e2e_ids: e2e_ids && splitCell(e2e_ids) },
    });
    if (key.success && parsed.success) return { value: { ...key.data, facts: parsed.data } };
    const issues = [...(key.error?.issues ?? []), ...(parsed.error?.issues ?? [])];
    // a column of several keys has the fault of the first wrong one
    const byColumn = new Map(issues.toReversed().map((issue) => [String(issue.path[0] ?? ''), issue.message]));
    const faults = [...byColumn].map(([column, text]) => ({
      column,
      kind: 'refused' as const,
      said: saidOfRule(text),
    }));
    return { fault: faults.toReversed() };
  },
  async apply(inner, rows: ImportedRow<Arrival>[], { actor }) {
    const repeated = listRepeated(
      rows,
      ({ source, number }) => `${source} ${number}`,
      ({ number: row }) => ({
        ...{ row, column: 'number', kind: 'number_repeated' },
      }),
    );
    if (repeated.length > 0) return { changed: 0, faults: repeated };
    const outcomes: PutOutcome[] = [];
    for (let from = 0; from < rows.length; from += BATCH) {
      const arrivals = rows.slice(from, from + BATCH).map(({ value }) => value);
      append(outcomes, await putExpected(inner, { arrivals, actor }));
    }
    const faults = outcomes.flatMap(({ status }, index): ImportFault[] => {
      if (status !== 'expected_cancelled' && status !== 'expected_operation') return [];
      const column = status === 'expected_operation' ? 'operation' : 'number';
      return [{ row: rows[index]?.number ?? 0, column, kind: 'refused', error: refuse(status) }];
    });
    return { changed: outcomes.filter(isChange).length, faults, orders: await summarize(inner, rows) };
  },
});

/**
 * Writes the texts of a cell: with the separator between them, or, where one of them would be read as others, as a list in JSON.
 * `splitCell` reads both.
 */
export function joinCell(texts: readonly string[]): string {
  const isPlain = texts.every((one) => !one.includes(SEPARATOR) && !one.startsWith('[') && one === one.trim());
  return isPlain ? texts.join(` ${SEPARATOR} `) : JSON.stringify(texts);
}

function splitCell(text: string): string[] {
  return readJsonTexts(text) ?? text.split(SEPARATOR).map((one) => one.trim());
}

function readJsonTexts(text: string): string[] | undefined {
  return text.startsWith('[') ? readJson(text, z.array(z.string())) : undefined;
}

function readJson<T>(text: string, type: z.ZodType<T>): T | undefined {
  try {
    return type.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // a text that begins like JSON
  }
}

/** An apostrophe that keeps a text from being a formula; before others, one of them is the guard. */
const GUARDED = /^'+/;

/**
 * Writes a text so that it is the same when the file comes back: with one more apostrophe, where it would lose its own; as a string in
 * JSON, where a cell would lose what nobody sees of it, such as a blank at its end, or would pass for a number that lost digits.
 */
export function guard(text: string): string {
  const isPlain = text === text.trim() && text === showUnseen(text) && !SCIENTIFIC.test(text);
  if (!isPlain || readJsonText(text) !== undefined) return writeJsonText(text);
  return unguard(text) === text ? text : `'${text}`;
}

function unguard(text: string): string {
  const written = readJsonText(text);
  // a text in quotation marks is no string that `guard` wrote
  if (written !== undefined && guard(written) === text) return written;
  const own = text.replace(GUARDED, '');
  return own !== text && isFormula(own) ? text.slice(1) : text;
}

function writeJsonText(text: string): string {
  return JSON.stringify(text).replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function readJsonText(text: string): string | undefined {
  return text.startsWith('"') ? readJson(text, z.string()) : undefined;
}

async function summarize(context: Context, rows: ImportedRow<Arrival>[]): Promise<ImportedOrders> {
  const facts = rows.map(({ value }) => value.facts);
  const sums = [...Map.groupBy(facts, ({ operation }) => operation)].map(([operation, own]) => ({
    ...{ operation, rows: own.length, cents: own.reduce((sum, { amount }) => sum + amount, 0n) },
  }));
  const platforms = facts.flatMap(({ platform }) => platform ?? []);
  return {
    first: rows.slice(0, ROWS_SHOWN).map(({ number: row, value: { number, facts: own } }) => {
      const { operation, platform, amount: cents, due_day } = own;
      return { row, number, operation, platform, cents, due_day };
    }),
    ...{ sums, unfindable: facts.filter((own) => !hasKey(own)).length },
    unseen: await countUnseenPlatforms(context.db, platforms),
    asked: await countAsked(context, facts),
  };
}
