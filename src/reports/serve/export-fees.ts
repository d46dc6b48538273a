/** Writes a month's fees: their sums as CSV, or as a workbook with the payments that differ. Nothing of it is stored. */
import path from 'node:path';
import type { Context } from '../../context.ts';
import type { Month } from '../../domain/calendar.ts';
import type { Language } from '../../domain/language/language.ts';
import { type DifferingPayment, type FeeRow, type Fees, isCovered } from '../../ledger/stated/read-fees.ts';
import { describeCode, fill } from '../../texts/fill.ts';
import { formatLocalCount, formatMonth } from '../../texts/reports/texts.ts';
import { moment, money, type ReportColumn, showPlatform, text } from '../render/columns.ts';
import { startNamedCsv } from '../render/formats/write-csv.ts';
import { openTable } from '../render/open-table.ts';
import { useDraft } from './build-once.ts';
import { renderingOf, writeTables } from './export-found.ts';

/** Platforms, and their names, as the reader may see them. */
export type FeesExport = { month: Month; fees: Fees; platformNames: ReadonlyMap<string, string>; signal: AbortSignal };

const WORDS: Record<Language, Record<'title' | 'note' | 'byHand' | 'behind' | 'behindNote' | 'cut', string>> = {
  'pt-BR': {
    title: 'Tarifas',
    note: 'Transações pagas em {month}, entradas e saídas, com a tarifa que têm agora. A diferença conta só as que um contrato cobre, com o arredondamento de cada uma.',
    byHand: 'Lançadas por pessoas',
    behind: 'Transações fora do contrato',
    behindNote: 'Transações de {month} cuja tarifa não é a do contrato, como quer que se arredonde.',
    cut: ' Aqui estão {count} de {total}.',
  },
  en: {
    title: 'Fees',
    note: 'Transactions paid in {month}, in and out, with their commission of now. The difference counts those that a contract covers, with the rounding of each.',
    byHand: 'Entered by people',
    behind: 'Transactions off the contract',
    behindNote: "Transactions of {month} whose commission is not the contract's, however it is rounded.",
    cut: ' Here are {count} of {total}.',
  },
};

/** The columns of a month's fees: of its files, of the console's page and of the API. */
export const FEE_COLUMNS = [
  ...(['platform', 'operation', 'payments', 'charged', 'covered', 'agreed', 'difference'] as const),
  ...(['differing', 'uncovered'] as const),
] as const satisfies ReportColumn<Row>['name'][];
export type FeeColumn = (typeof FEE_COLUMNS)[number];

/** The sums of an operation, or the fees that people entered for a platform. */
type Row = Pick<FeeRow, 'platform' | 'charged'> & { of: FeeRow | undefined };

function listRows({ rows, byHand }: Fees): Row[] {
  return [
    ...rows.map((of) => ({ platform: of.platform, charged: of.charged, of })),
    ...byHand.map(({ platform, cents: charged }) => ({ platform, charged, of: undefined })),
  ];
}

function listColumns({ byHand }: { byHand: string }): ReportColumn<Row>[] {
  /** Null where no payment is covered: there is nothing to compare. */
  const covered = ({ of }: Row, cents: (of: FeeRow) => bigint) => (of && isCovered(of) ? cents(of) : null);
  const columns: Record<FeeColumn, ReportColumn<Row>> = {
    platform: text('platform', 38, (row, rendering) => showPlatform(row.platform, rendering)),
    operation: text('operation', 22, ({ of }, { texts }) =>
      of ? describeCode(texts.operations, of.operation) : byHand,
    ),
    payments: count('payments', ({ of }) => of?.payments),
    charged: money('charged', (row) => row.charged, 'totals'),
    covered: money('covered', (row) => covered(row, (of) => of.covered), 'totals'),
    agreed: money('agreed', (row) => covered(row, (of) => of.agreed), 'totals'),
    difference: money('difference', (row) => covered(row, (of) => of.difference), 'totals'),
    differing: count('differing', ({ of }) => of?.differing),
    uncovered: count('uncovered', ({ of }) => of?.uncovered),
  };
  return FEE_COLUMNS.map((name) => columns[name]);
}

const PAYMENT_COLUMNS: ReportColumn<DifferingPayment>[] = [
  text('id', 38, ({ id }) => id),
  text('platform', 38, (row, rendering) => showPlatform(row.platform, rendering)),
  text('operation', 22, ({ operation }, { texts }) => describeCode(texts.operations, operation)),
  moment('paidAt', ({ at }) => at),
  money('amount', ({ amount }) => amount, 'totals'),
  money('charged', ({ charged }) => charged, 'totals'),
  money('agreed', ({ agreed }) => agreed, 'totals'),
  money('difference', ({ charged, agreed }) => charged - agreed, 'totals'),
];

function count(name: ReportColumn<Row>['name'], get: (row: Row) => number | undefined): ReportColumn<Row> {
  return { name, width: 15, type: 'count', cell: (row) => ({ count: get(row) ?? null }) };
}

/** The sums as CSV: `;`, decimal comma, UTF-8 with BOM, CRLF. */
export function renderFeesCsv(context: Context, { fees, platformNames }: Omit<FeesExport, 'month' | 'signal'>): string {
  const columns = listColumns(WORDS[context.config.REPORT_LOCALE]);
  const csv: string[] = [];
  const sink = { add: (more: string): void => void csv.push(more) };
  const add = startNamedCsv(sink, columns, renderingOf(context, platformNames));
  for (const row of listRows(fees)) add(row);
  return csv.join('');
}

/** Writes a workbook of two sheets and passes its file to `use`; then the file is deleted. */
export async function writeFeesWorkbook(
  context: Context,
  { month, fees, platformNames, signal }: FeesExport,
  use: (file: string) => Promise<void>,
): Promise<void> {
  const words = WORDS[context.config.REPORT_LOCALE];
  const rendering = renderingOf(context, platformNames);
  const say = (note: string): string => fill(note, { month: formatMonth(month) });
  const total = fees.rows.reduce((sum, { differing }) => sum + differing, 0);
  const [count, all] = [fees.payments.length, total].map((one) => formatLocalCount(one, rendering.texts));
  const cut = fees.payments.length < total ? fill(words.cut, { count: `${count}`, total: `${all}` }) : '';
  const build = async (directory: string): Promise<string> => {
    const file = path.join(directory, 'fees.xlsx');
    const head = { title: `${words.title} ${formatMonth(month)}`, note: say(words.note), signal };
    await writeTables(context, file, head, async (factory) => {
      const open = <Of>(title: string, note: string, columns: ReportColumn<Of>[], rows: Of[]) =>
        writeRows(openTable(factory, { title, note, columns }, rendering), rows);
      return [
        await open(words.title, head.note, listColumns(words), listRows(fees)),
        await open(words.behind, say(words.behindNote) + cut, PAYMENT_COLUMNS, fees.payments),
      ];
    });
    return file;
  };
  await useDraft(context, signal, build, use);
}

async function writeRows<Of>(table: ReturnType<typeof openTable<Of>>, rows: Of[]) {
  for (const row of rows) table.add(row);
  return await table.end();
}
