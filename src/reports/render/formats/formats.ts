/**
 * The formats of a report's files, one row each. The command line, the API and the console offer what is in this table.
 */
import type { FileFormat } from '../../plan/report-plan.ts';
import { BEANCOUNT } from './beancount.ts';
import { HLEDGER } from './hledger.ts';
import { CALIMA, CONTA_AZUL, GENERIC, type Layout } from './layouts.ts';
import { openLancamentos } from './open-lancamentos.ts';
import { openOfx } from './open-ofx.ts';
import { openParquet } from './open-parquet.ts';
import type { OpenOutput } from './output.ts';
import { openCsv } from './write-csv.ts';
import { type JournalDialect, openJournal } from './write-journal.ts';

type FormatFacts = {
  /** What follows the dot in the file's name and in its address. */
  extension: string;
  contentType: string;
  /** Its name in the console. */
  title: string;
  /** Writes the movements; without it the file is the workbook, whose sheets show more than movements. */
  open?: OpenOutput;
  /** The rows are in the customer's own accounts: an account without a row in the account map is an error. */
  needsAccountMap?: true;
  /** The file has no limit of days on the command line: programs read years of it. */
  anyLength?: true;
};

const CSV = 'text/csv; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';

export const FORMAT_FACTS: Record<FileFormat, FormatFacts> = {
  xlsx: {
    extension: 'xlsx',
    contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    title: 'Planilha',
  },
  csv: { extension: 'csv', contentType: CSV, title: 'CSV', open: openCsv },
  journal: {
    extension: 'journal',
    contentType: TEXT,
    title: 'Diário hledger',
    open: journal(HLEDGER),
    anyLength: true,
  },
  ofx: { extension: 'ofx', contentType: 'application/x-ofx', title: 'OFX (extrato bancário)', open: openOfx },
  lancamentos: {
    extension: 'lancamentos.csv',
    contentType: CSV,
    title: 'Lançamentos contábeis',
    open: lancamentos(GENERIC),
    needsAccountMap: true,
  },
  'conta-azul': {
    extension: 'conta-azul.csv',
    contentType: CSV,
    title: 'Lançamentos para Conta Azul',
    open: lancamentos(CONTA_AZUL),
    needsAccountMap: true,
  },
  calima: {
    extension: 'calima.csv',
    contentType: 'text/csv; charset=windows-1252',
    title: 'Lançamentos para Calima',
    open: lancamentos(CALIMA),
    needsAccountMap: true,
  },
  beancount: {
    extension: 'beancount',
    contentType: TEXT,
    title: 'Diário beancount',
    open: journal(BEANCOUNT),
    anyLength: true,
  },
  parquet: {
    extension: 'parquet.zip',
    contentType: 'application/zip',
    title: 'Parquet (para BI)',
    open: openParquet,
  },
};

function journal(dialect: JournalDialect): OpenOutput {
  return (work, file) => openJournal(work, file, dialect);
}

function lancamentos(layout: Layout): OpenOutput {
  return (work, file) => openLancamentos(work, file, layout);
}
