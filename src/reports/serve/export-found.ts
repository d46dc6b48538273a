/** Writes transactions that a search found, as CSV or as a workbook. Nothing of it is stored. */
import path from 'node:path';
import type { Context } from '../../context.ts';
import type { Language } from '../../domain/language/language.ts';
import { parseSum } from '../../domain/money.ts';
import { maskDocument } from '../../domain/person/mask-person.ts';
import type { LedgerTransaction, PresentedTransaction } from '../../domain/present-transaction.ts';
import { VERSION } from '../../domain/version.ts';
import { mapInTurns } from '../../runtime/take-turns.ts';
import { describeCode, fill } from '../../texts/fill.ts';
import { formatLocalCount, formatMoment, textsOf } from '../../texts/reports/texts.ts';
import { ROWS_PER_SHEET_MAX } from '../plan/report-plan.ts';
import { moment, money, type RenderContext, type ReportColumn, text } from '../render/columns.ts';
import { startNamedCsv } from '../render/formats/write-csv.ts';
import { type FinishedTable, openTable, type SheetFactory } from '../render/open-table.ts';
import { nameParts } from '../render/report-work.ts';
import { writeWorkbook } from '../xlsx/write-workbook.ts';
import { useDraft } from './build-once.ts';

/** An export has the newest rows up to this number. Each of them is in the audit by its id. */
export const EXPORT_ROWS_MAX = 20_000;
export const EXPORT_FORMATS = ['csv', 'xlsx'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** A transaction as the reader may see it, and the ledger's own. */
export type FoundRow = { shown: PresentedTransaction; of: LedgerTransaction };

export type FoundExport = {
  pages: AsyncIterable<FoundRow[]>;
  /** More rows match than the file has. */
  isCut: boolean;
  /** For a reader without the right to see personal data: the rows are masked. */
  masked: boolean;
  /** Names of platforms as the reader may see them. */
  platformNames: ReadonlyMap<string, string>;
  signal: AbortSignal;
};

const WORDS: Record<Language, { title: string; made: string; cut: string }> = {
  'pt-BR': {
    title: 'Transações',
    made: 'Busca de {at}, relógio do provedor ({zone}).',
    cut: ' As {max} mais novas: há mais.',
  },
  en: {
    title: 'Transactions',
    made: 'Search of {at}, provider clock ({zone}).',
    cut: ' The newest {max}: there are more.',
  },
};

function listColumns({ config }: Context, masked: boolean): ReportColumn<FoundRow>[] {
  // masked rows hold masked documents
  const document = ({ shown }: FoundRow) =>
    masked || config.REPORT_FULL_DOCUMENTS ? shown.document : maskDocument(shown.document);
  const cents = (amount: string | null) => (amount === null ? null : (parseSum(amount) ?? null));
  return [
    text('id', 38, ({ shown }) => shown.id),
    moment('createdAt', ({ of }) => of.createdWall),
    text('operation', 11, ({ shown }, { texts }) => describeCode(texts.operations, shown.operation)),
    text('status', 17, ({ shown }, { texts }) => describeCode(texts.statuses, shown.status)),
    moment('since', ({ of }) => of.statusWall),
    money('amount', ({ shown }) => cents(shown.amount)),
    money('commission', ({ shown }) => cents(shown.commission)),
    text('platform', 44, ({ shown }, { platformNames }) => spellPlatform(shown.platform, platformNames)),
    text('reference', 24, ({ shown }) => shown.reference),
    text('extra', 36, ({ shown }) => shown.extra),
    text('e2e', 38, ({ shown }) => shown.e2e_id),
    text('name', 36, ({ shown, of }, { texts }) => (of.forgotten ? texts.forgotten : shown.name)),
    text('document', 18, (row, { texts }) => (row.of.forgotten ? texts.forgotten : document(row))),
  ];
}

function spellPlatform(platform: string | null, names: ReadonlyMap<string, string>): string | null {
  const name = names.get(platform ?? '');
  return name === undefined ? platform : `${name} (${platform})`;
}

/** Renders in the language of reports. */
export function renderingOf({ config, calendar }: Context, platformNames: ReadonlyMap<string, string>): RenderContext {
  return {
    texts: textsOf(config.REPORT_LOCALE),
    fullDocuments: config.REPORT_FULL_DOCUMENTS,
    toWall: (instant) => calendar.toWallTime(instant),
    platformNames,
  };
}

/** `confere-transacoes-20261123-093000.csv`; a mask and a limit are part of the name. */
export function nameFoundFile(
  { clock, calendar }: Context,
  { isCut, masked }: Pick<FoundExport, 'isCut' | 'masked'>,
  format: ExportFormat,
): string {
  const at = calendar.toWallTime(clock.now()).replace(/[-:]/g, '').replace(' ', '-');
  const parts = [
    'confere-transacoes',
    at,
    ...(isCut ? [`${EXPORT_ROWS_MAX}-mais-novas`] : []),
    ...(masked ? ['masked'] : []),
  ];
  return `${parts.join('-')}.${format}`;
}

/** Yields the text of the CSV page by page: `;`, decimal comma, UTF-8 with BOM, CRLF. */
export async function* renderFoundCsv(context: Context, wanted: FoundExport): AsyncGenerator<string, void, undefined> {
  const columns = listColumns(context, wanted.masked);
  let chunk = '';
  const sink = {
    add(more: string): void {
      chunk += more;
    },
  };
  const add = startNamedCsv(sink, columns, renderingOf(context, wanted.platformNames));
  for await (const rows of wanted.pages) {
    await mapInTurns(rows, add);
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}

/** Writes a workbook with one sheet and passes its file to `use`; then the file is deleted. */
export async function writeFoundWorkbook(
  context: Context,
  { pages, isCut, masked, platformNames, signal }: FoundExport,
  use: (file: string) => Promise<void>,
): Promise<void> {
  const { config, calendar, clock } = context;
  const rendering = renderingOf(context, platformNames);
  const words = WORDS[config.REPORT_LOCALE];
  const at = formatMoment(calendar.toWallTime(clock.now()));
  const cut = isCut ? fill(words.cut, { max: formatLocalCount(EXPORT_ROWS_MAX, rendering.texts) }) : '';
  const note = `${fill(words.made, { at, zone: calendar.zone })}${cut}`;
  const sheet = { title: words.title, note, columns: listColumns(context, masked), pages, rendering, signal };
  await writeSheet(context, sheet, use);
}

/** A sheet of rows that are read page by page. */
type PagedSheet<Row> = Parameters<typeof openTable<Row>>[1] &
  Pick<FoundExport, 'signal'> & { pages: AsyncIterable<Row[]>; rendering: RenderContext };

/** Writes a workbook of that sheet, page by page, and passes its file to `use`; then the file is deleted. */
export async function writeSheet<Row>(
  context: Context,
  { columns, pages, rendering, ...head }: PagedSheet<Row>,
  use: (file: string) => Promise<void>,
): Promise<void> {
  const build = async (directory: string): Promise<string> => {
    const file = path.join(directory, 'sheet.xlsx');
    await writeTables(context, file, head, async (factory) => {
      const table = openTable(factory, { ...head, columns }, rendering);
      for await (const rows of pages) {
        head.signal.throwIfAborted();
        await mapInTurns(rows, (row) => table.add(row));
        await table.drain();
      }
      return [await table.end()];
    });
    return file;
  };
  await useDraft(context, head.signal, build, use);
}

/** Writes a workbook of tables alone, which `write` opens and ends, made now. */
export async function writeTables(
  { calendar, clock }: Pick<Context, 'calendar' | 'clock'>,
  file: string,
  { title, note, signal }: { title: string; note: string; signal: AbortSignal },
  write: (factory: SheetFactory) => Promise<FinishedTable[]>,
): Promise<void> {
  const madeAt = clock.now();
  const footer = `Confere · ${formatMoment(calendar.toWallTime(madeAt))}`;
  const files = nameParts(path.dirname(file), signal);
  const tables = await write({ subtitle: '', footer, rowsPerSheetMax: ROWS_PER_SHEET_MAX, ...files });
  const sheets = tables.flatMap((table) => table.sheets);
  const properties = { title, subject: '', keywords: 'confere', description: note, version: VERSION, madeAt };
  await writeWorkbook(file, sheets, properties, files.scratch);
}
