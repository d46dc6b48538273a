import path from 'node:path';
import { labelActors } from '../../access/label-actors.ts';
import type { Reader } from '../../database/reader.ts';
import { fill } from '../../texts/fill.ts';
import { formatDay, type Texts } from '../../texts/reports/texts.ts';
import type { ReceiptShares } from '../orders/share-receipts.ts';
import { type AnyPlan, type FileFormat, type ReportPlan, spanOf } from '../plan/report-plan.ts';
import type { Tally } from '../read/create-tally.ts';
import type { RowDigest } from '../read/digest-rows.ts';
import type { AccountBalance } from '../read/read-accounts.ts';
import type { CutEntries } from '../read/read-cut-entries.ts';
import type { FactsAtCut } from '../read/read-facts-at-cut.ts';
import type { Movement } from '../read/read-movements.ts';
import type { RenderContext, ReportColumn } from './columns.ts';
import { openTable, type SheetFactory, type TableWriter } from './open-table.ts';

/** The context that all steps share that write the files of one plan. */
export type ReportWork<Plan extends AnyPlan = ReportPlan> = {
  db: Reader;
  plan: Plan;
  scope: { start: string; end: string; platform: string | undefined } & CutEntries;
  rendering: RenderContext;
  digest: RowDigest;
  balances: AccountBalance[];
  factsAtCut: FactsAtCut;
  tally: Tally;
  /** Undefined where the file shows no orders. */
  shares: ReceiptShares | undefined;
  factory: ReportFactory;
  files: Record<FileFormat, string>;
  /** Closes open files when a step fails. */
  signal: AbortSignal;
};

/** Makes the sheets of a workbook; `scratch` names a temporary file for its other parts. */
export type ReportFactory = SheetFactory & { scratch: () => { file: string; signal: AbortSignal } };

/** Names the sheets of a workbook, and the files of its parts under `directory`. */
export function nameParts(directory: string, signal: AbortSignal): Pick<ReportFactory, 'next' | 'scratch'> {
  let sheets = 0;
  let scratched = 0;
  return {
    next() {
      const index = sheets++;
      const name = `xl/worksheets/sheet${index + 1}.xml`;
      return { name, file: path.join(directory, `sheet-${index}`), signal, index };
    },
    scratch: () => ({ file: path.join(directory, `part-${scratched++}`), signal }),
  };
}

/** The titles and limits of a report's sheets, and the files of its parts. */
export function createFactory(plan: AnyPlan, texts: Texts, directory: string, signal: AbortSignal): ReportFactory {
  const values = { state: texts.states[plan.state], zone: plan.calendar.zone };
  const names =
    'days' in plan
      ? {
          subtitle: fill(texts.period.subtitle, { ...values, period: formatPeriod(plan, texts) }),
          footer: formatPeriod(plan, texts),
        }
      : {
          subtitle: fill(texts.notes.revision, { ...values, revision: plan.revision }),
          footer: `${formatDay(plan.day)} · r${plan.revision}`,
        };
  return {
    subtitle: names.subtitle,
    footer: `Confere · ${names.footer}`,
    rowsPerSheetMax: plan.rowsPerSheetMax,
    ...nameParts(directory, signal),
  };
}

/** `01/10/2026 a 31/10/2026`. */
export function formatPeriod(plan: AnyPlan, { period }: Texts): string {
  const { from, to } = spanOf(plan);
  return fill(period.span, { from: formatDay(from), to: formatDay(to) });
}

type TableName = Exclude<keyof Texts['sheets'], 'summary'>;

/** Opens the next sheet of rows under its own title; `note` replaces the usual line under the title. */
export function openReportTable<Row>(
  { factory, rendering, plan }: ReportWork<AnyPlan>,
  name: TableName,
  columns: ReportColumn<Row>[],
  note: string = noteOf(name, plan, rendering.texts),
): TableWriter<Row> {
  return openTable(factory, { title: rendering.texts.sheets[name], note, columns }, rendering);
}

function noteOf(name: TableName, plan: AnyPlan, { notes, period }: Texts): string {
  return 'days' in plan && isOfPeriod(name) ? period[name] : notes[name];
}

const PERIOD_NOTES = ['statement', 'pending', 'receivable', 'mismatches'] as const;

function isOfPeriod(name: TableName): name is (typeof PERIOD_NOTES)[number] {
  return (PERIOD_NOTES as readonly string[]).includes(name);
}

type Naming = Pick<ReportWork<AnyPlan>, 'db' | 'plan' | 'rendering'>;

/** @returns what this reader calls an actor: by name, or a viewer by role. */
export async function labelPersons({ db, plan, rendering }: Naming, actors: string[]): Promise<(id: string) => string> {
  return await labelActors(db, actors, { full: !plan.masked, roles: rendering.texts.roles });
}

/** Names, in rows as they were read, who entered each adjustment. */
export async function nameEntered<Row extends Pick<Movement, 'adjustment'>>(work: Naming, rows: Row[]): Promise<Row[]> {
  const actors = rows.flatMap(({ adjustment }) => adjustment?.by ?? []);
  if (actors.length === 0) return rows;
  const label = await labelPersons(work, actors);
  return rows.map((row) =>
    row.adjustment ? { ...row, adjustment: { ...row.adjustment, by: label(row.adjustment.by) } } : row,
  );
}
