/** The CSV of expected payments: with the columns of its import first, so that a file can come back. */
import type { Caller } from '../access/tokens.ts';
import type { Context } from '../context.ts';
import { parseSum } from '../domain/money.ts';
import type { PresentedExpected } from '../expected/list-expected.ts';
import { EXPECTED, SEPARATOR } from '../imports/kinds/expected.ts';
import { BOM, LINE_END, renderField } from '../reports/render/formats/write-csv.ts';
import type { Cell } from '../reports/xlsx/render-cell.ts';
import { readList } from './define-list.ts';
import { type ExpectedFilters, expectedPayments } from './expected.ts';

const PAGE_ROWS = 1_000;

const text = (value: string | null): Cell => ({ text: value });
const money = (value: string): Cell => ({ cents: parseSum(value) ?? null });
const list = (values: readonly string[]): Cell => text(values.join(` ${SEPARATOR} `));

const GIVEN: Record<string, (row: PresentedExpected) => Cell> = {
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
const FOUND: Record<string, { pt: string; en: string; cell: (row: PresentedExpected) => Cell }> = {
  id: { pt: 'id', en: 'id', cell: (row) => text(row.id) },
  state: { pt: 'estado', en: 'state', cell: (row) => text(row.state) },
  reason: { pt: 'motivo', en: 'reason', cell: (row) => text(row.reason_code) },
  paid: { pt: 'pago', en: 'paid', cell: (row) => money(row.paid) },
  refunded: { pt: 'devolvido', en: 'refunded', cell: (row) => money(row.refunded) },
  difference: { pt: 'diferença', en: 'difference', cell: (row) => money(row.difference) },
  lateDays: { pt: 'dias de atraso', en: 'late days', cell: (row) => ({ count: row.late_days }) },
  payments: { pt: 'transações', en: 'transactions', cell: (row) => list(row.matches.map((one) => one.transaction_id)) },
  matchedTo: { pt: 'decidido até', en: 'matched to', cell: (row) => text(row.matched_to) },
};

/** Yields the CSV page by page: `;`, decimal comma, UTF-8 with BOM, CRLF; masked where the caller sees no persons. */
export async function* renderExpectedCsv(
  context: Context,
  { filter, caller }: { filter: ExpectedFilters; caller: Caller },
): AsyncGenerator<string, void, undefined> {
  const isEnglish = context.config.REPORT_LOCALE === 'en';
  const titles = [
    ...Object.keys(GIVEN).map((name) => EXPECTED.columns[name]?.titles[isEnglish ? 'en' : 'pt-BR'] ?? name),
    ...Object.values(FOUND).map(({ pt, en }) => (isEnglish ? en : pt)),
  ];
  let head = `${BOM}${titles.join(';')}${LINE_END}`;
  const cells = [...Object.values(GIVEN), ...Object.values(FOUND).map(({ cell }) => cell)];
  for (let after: number | undefined; ; ) {
    const page = { limit: PAGE_ROWS, after };
    const { rows, next } = await readList(context, expectedPayments, { filter, page, caller });
    // not before the first page: it may be refused
    yield head + rows.map((row) => cells.map((cell) => renderField(cell(row))).join(';') + LINE_END).join('');
    if (next === undefined) return;
    [head, after] = ['', next];
  }
}
