/** Writes adjustments that a list found, as CSV or as a workbook. Nothing of it is stored. */
import type { Context } from '../../context.ts';
import type { Language } from '../../domain/language/language.ts';
import { parseSum } from '../../domain/money.ts';
import type { listAdjustments } from '../../ledger/stated/list-adjustments.ts';
import { describeCode, fill } from '../../texts/fill.ts';
import { codeAdjustment, formatLocalCount } from '../../texts/reports/texts.ts';
import { moment, money, type ReportColumn, showPlatform, text } from '../render/columns.ts';
import { startNamedCsv } from '../render/formats/write-csv.ts';
import { EXPORT_ROWS_MAX, renderingOf, writeSheet } from './export-found.ts';

/** An adjustment as the reader may see it; `by`: who entered it. */
type AdjustmentRow = Omit<Awaited<ReturnType<typeof listAdjustments>>[number], 'seq'> & { by: string };

type AdjustmentsExport = {
  rows: AdjustmentRow[];
  /** More rows match than the file has. */
  isCut: boolean;
  platformNames: ReadonlyMap<string, string>;
  signal: AbortSignal;
};

const WORDS: Record<Language, Record<'title' | 'note' | 'cut', string>> = {
  'pt-BR': {
    title: 'Ajustes',
    note: 'Movimentos que a lista do provedor não mostra, lançados por pessoas. Um estorno é uma linha própria, com o sinal trocado.',
    cut: ' Os {max} mais novos: há mais.',
  },
  en: {
    title: 'Adjustments',
    note: 'Movements that the provider’s list does not show, entered by people. A reversal is a row of its own, with the opposite sign.',
    cut: ' The newest {max}: there are more.',
  },
};

const centsOf = ({ amount }: AdjustmentRow): bigint => parseSum(amount) ?? 0n;

const COLUMNS: ReportColumn<AdjustmentRow>[] = [
  { name: 'day', width: 12, type: 'day', cell: ({ day }) => ({ day }) },
  text('platform', 38, (row, rendering) => showPlatform(row.platform, rendering)),
  text('kind', 26, (row, { texts }) =>
    describeCode(texts.adjustmentKinds, codeAdjustment(row.kind, centsOf(row), row.reverses !== null)),
  ),
  money('amount', centsOf, 'totals'),
  text('why', 44, ({ note }) => note),
  text('enteredBy', 28, ({ by }) => by),
  moment('enteredAt', (row, { toWall }) => toWall(new Date(row.created_at))),
  text('adjustment', 38, ({ id }) => id),
  text('reverses', 38, ({ reverses }) => reverses),
  text('reversedBy', 38, (row) => row.reversed_by),
];

/** The rows as CSV: `;`, decimal comma, UTF-8 with BOM, CRLF. */
export function renderAdjustmentsCsv(context: Context, wanted: Omit<AdjustmentsExport, 'signal'>): string {
  const csv: string[] = [];
  const sink = { add: (more: string): void => void csv.push(more) };
  const add = startNamedCsv(sink, COLUMNS, renderingOf(context, wanted.platformNames));
  for (const row of wanted.rows) add(row);
  return csv.join('');
}

/** Writes a workbook with one sheet and passes its file to `use`; then the file is deleted. */
export async function writeAdjustmentsWorkbook(
  context: Context,
  { rows, isCut, platformNames, signal }: AdjustmentsExport,
  use: (file: string) => Promise<void>,
): Promise<void> {
  const rendering = renderingOf(context, platformNames);
  const { title, note, cut } = WORDS[context.config.REPORT_LOCALE];
  const more = isCut ? fill(cut, { max: formatLocalCount(EXPORT_ROWS_MAX, rendering.texts) }) : '';
  const sheet = { title, note: note + more, columns: COLUMNS, rendering, signal };
  await writeSheet(context, { ...sheet, pages: once(rows) }, use);
}

async function* once<Row>(rows: Row[]): AsyncGenerator<Row[], void, undefined> {
  yield rows;
}
