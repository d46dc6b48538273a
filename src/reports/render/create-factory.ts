import path from 'node:path';
import type { ReportPlan } from '../plan/report-plan.ts';
import { fill, formatDay, type Texts } from '../texts/texts.ts';
import type { SheetFactory } from './open-table.ts';

/** What all sheets of a report share; `scratch` gives a temporary file for the workbook's other parts. */
export type ReportFactory = SheetFactory & { scratch: () => { file: string; signal: AbortSignal } };

/** Names the sheets of a report, and the files that they are written to under `directory`. */
export function createFactory(plan: ReportPlan, texts: Texts, directory: string, signal: AbortSignal): ReportFactory {
  let sheets = 0;
  let scratched = 0;
  const values = { revision: plan.revision, state: texts.states[plan.state], zone: plan.calendar.zone };
  return {
    subtitle: fill(texts.notes.revision, values),
    footer: `Confere · ${formatDay(plan.day)} · r${plan.revision}`,
    rowsPerSheetMax: plan.rowsPerSheetMax,
    partText: texts.notes.part,
    rowWords: { one: texts.summary.row, many: texts.summary.rows },
    totalText: texts.summary.total,
    next() {
      const index = sheets++;
      const name = `xl/worksheets/sheet${index + 1}.xml`;
      return { name, file: path.join(directory, `sheet-${index}`), signal, index };
    },
    scratch: () => ({ file: path.join(directory, `part-${scratched++}`), signal }),
  };
}
