import path from 'node:path';
import type { Reader } from '../../database/reader.ts';
import type { Format, ReportPlan } from '../plan/report-plan.ts';
import type { Tally } from '../read/create-tally.ts';
import type { RowDigest } from '../read/digest-rows.ts';
import type { AccountBalance } from '../read/read-balances.ts';
import type { CutEntries } from '../read/read-cut-entries.ts';
import type { FactsAtCut } from '../read/read-facts-at-cut.ts';
import { fill, formatDay, type Texts } from '../texts/texts.ts';
import type { RenderContext, ReportColumn } from './columns.ts';
import { openTable, type SheetFactory, type TableWriter } from './open-table.ts';

/** The context that all steps share that write the files of one revision. */
export type ReportWork = {
  db: Reader;
  plan: ReportPlan;
  scope: { start: string; end: string; platform: string | undefined } & CutEntries;
  rendering: RenderContext;
  digest: RowDigest;
  balances: AccountBalance[];
  factsAtCut: FactsAtCut;
  tally: Tally;
  factory: ReportFactory;
  files: Record<Format, string>;
  /** Closes open files when a step fails. */
  signal: AbortSignal;
};

/** Makes the sheets of a workbook; `scratch` names a temporary file for its other parts. */
export type ReportFactory = SheetFactory & { scratch: () => { file: string; signal: AbortSignal } };

/** Names the sheets of a report, and their files under `directory`. */
export function createFactory(plan: ReportPlan, texts: Texts, directory: string, signal: AbortSignal): ReportFactory {
  let sheets = 0;
  let scratched = 0;
  const values = { revision: plan.revision, state: texts.states[plan.state], zone: plan.calendar.zone };
  return {
    subtitle: fill(texts.notes.revision, values),
    footer: `Confere · ${formatDay(plan.day)} · r${plan.revision}`,
    rowsPerSheetMax: plan.rowsPerSheetMax,
    next() {
      const index = sheets++;
      const name = `xl/worksheets/sheet${index + 1}.xml`;
      return { name, file: path.join(directory, `sheet-${index}`), signal, index };
    },
    scratch: () => ({ file: path.join(directory, `part-${scratched++}`), signal }),
  };
}

type TableName = Exclude<keyof Texts['sheets'], 'summary'>;

/** Opens the next sheet of rows under its own title; `note` replaces the usual line under the title. */
export function openReportTable<Row>(
  { factory, rendering }: ReportWork,
  name: TableName,
  columns: ReportColumn<Row>[],
  note: string = rendering.texts.notes[name],
): TableWriter<Row> {
  return openTable(factory, { title: rendering.texts.sheets[name], note, columns }, rendering);
}
