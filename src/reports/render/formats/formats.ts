/**
 * The formats of a report's files, one row each. The command line, the API and the console offer what is in this table.
 */
import { refuseField } from '../../../texts/refuse.ts';
import { FILE_FORMATS, type FileFormat } from '../../plan/report-plan.ts';
import { CALIMA, CONTA_AZUL, GENERIC, type Layout } from './layouts.ts';
import { openLancamentos } from './open-lancamentos.ts';
import { openOfx } from './open-ofx.ts';
import { openReceivablesCsv, openUnidentifiedCsv } from './open-orders-csv.ts';
import type { OpenOutput } from './output.ts';
import { openCsv } from './write-csv.ts';
import { continueJournal, openJournal } from './write-journal.ts';

type FormatFacts = {
  /** Follows the dot in the file's name and in its address. */
  extension: string;
  contentType: string;
  /** Writes the movements; without it the file is the workbook, whose sheets show more than movements. */
  open?: OpenOutput;
  /** Its postings can be added up by day. */
  canGroup?: true;
  /** The command line takes a range of any length: programs read years of it. */
  anyLength?: true;
};

export const FORMAT_FACTS: Record<FileFormat, FormatFacts> = {
  xlsx: {
    extension: 'xlsx',
    contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  },
  csv: csv('csv', openCsv),
  journal: journal('journal', openJournal),
  ofx: { extension: 'ofx', contentType: 'application/x-ofx', open: openOfx },
  lancamentos: lancamentos(GENERIC, 'lancamentos.csv'),
  'conta-azul': lancamentos(CONTA_AZUL, 'conta-azul.csv'),
  calima: lancamentos(CALIMA, 'calima.csv'),
  'journal-continued': journal('continued.journal', continueJournal),
  'a-receber': csv('a-receber.csv', openReceivablesCsv),
  'nao-identificados': csv('nao-identificados.csv', openUnidentifiedCsv),
};

function csv(extension: string, open: OpenOutput): FormatFacts {
  return { extension, contentType: 'text/csv; charset=utf-8', open };
}

function journal(extension: string, open: OpenOutput): FormatFacts {
  return { extension, contentType: 'text/plain; charset=utf-8', open, anyLength: true };
}

/** A journal in the customer's own accounts: one that the account map lacks is an error. */
function lancamentos(layout: Layout, extension: string): FormatFacts {
  const open: OpenOutput = (work, file) => openLancamentos(work, file, layout);
  return { extension, contentType: `text/csv; charset=${layout.charset}`, open, canGroup: true };
}

/** @throws ConfereError `invalid_request` for a format whose postings are not added up. */
export function assertGroup(format: FileFormat, group: 'day' | undefined): void {
  const formats = FILE_FORMATS.filter((one) => FORMAT_FACTS[one].canGroup).join(', ');
  if (group && !FORMAT_FACTS[format].canGroup) throw refuseField('group', 'group_of_entries', { formats });
}
