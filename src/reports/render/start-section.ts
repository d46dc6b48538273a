import type { Texts } from '../../texts/reports/texts.ts';
import type { ReceiptShares } from '../orders/share-receipts.ts';
import type { AnyPlan, ReportPlan } from '../plan/report-plan.ts';
import type { Hour, PlatformTotals } from '../read/create-tally.ts';
import type { StatedOpening, StatusCount } from '../read/read-counts.ts';
import type { MismatchCount } from '../read/read-mismatches.ts';
import type { StatedBalance } from '../read/read-statements.ts';
import type { SheetWriter } from '../xlsx/open-sheet.ts';
import type { FinishedTable } from './open-table.ts';

const SECTION_HEIGHT_POINTS = 24;

/** The content of Resumo. */
export type Summary<Plan extends AnyPlan = ReportPlan> = {
  plan: Plan;
  texts: Texts;
  /** By id. */
  platformNames: ReadonlyMap<string, string>;
  /** Names an actor, as the reader may see it. */
  actorOf: (actor: string) => string;
  platforms: Map<string, PlatformTotals>;
  hours: Hour[];
  counts: StatusCount[];
  openings: StatedOpening[];
  statements: StatedBalance[];
  /** Counts of those open at the cut. */
  mismatches: MismatchCount[];
  digest: Buffer;
  /** Undefined where nothing was expected. */
  shares: ReceiptShares | undefined;
  tables: {
    receipts: FinishedTable;
    payments: FinishedTable;
    refunds: FinishedTable;
    statement: FinishedTable;
    pending: FinishedTable;
    mismatches: FinishedTable;
    unidentified?: FinishedTable | undefined;
    all: [string, FinishedTable][];
  };
};

/** Adds a heading with a rule over the columns of its section. */
export function startSection(sheet: SheetWriter, title: string, columns: number): void {
  sheet.addRow([]);
  sheet.addRow(
    Array.from({ length: columns }, (_, index) => ({ text: index === 0 ? title : null, style: 'section' as const })),
    { heightPoints: SECTION_HEIGHT_POINTS },
  );
}
