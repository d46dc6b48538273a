import type { AnyPlan } from '../plan/report-plan.ts';
import { readStatedOpenings, readStatusCounts } from '../read/read-counts.ts';
import type { MismatchCount } from '../read/read-mismatches.ts';
import { readStatements } from '../read/read-statements.ts';
import { openSheet, type SheetWriter } from '../xlsx/open-sheet.ts';
import { writeWorkbook } from '../xlsx/write-workbook.ts';
import { COLUMNS_VERSION } from './columns.ts';
import type { FinishedTable } from './open-table.ts';
import { labelPersons, type ReportWork } from './report-work.ts';
import type { Summary } from './start-section.ts';

const ORDER = [
  'statement',
  'receipts',
  'payments',
  'refunds',
  'pending',
  'receivable',
  'unidentified',
  'mismatches',
  'changes',
  'adjustments',
] as const;

type TableName = (typeof ORDER)[number];
type Optional = 'receivable' | 'unidentified' | 'changes' | 'adjustments';
/**
 * A range has no revision before it, so it has no changes. A month that follows a closed one has adjustments. Where nothing was
 * expected there are no orders.
 */
export type Finished = Partial<Record<Optional, FinishedTable | undefined>> &
  Record<Exclude<TableName, Optional>, FinishedTable> & { openMismatches: MismatchCount[] };

/** The first sheet, and the names of the workbook. */
export type Front<Plan extends AnyPlan> = {
  name: string;
  widths: number[];
  write(sheet: SheetWriter, summary: Summary<Plan>): void;
  title: string;
  subject: string;
  keywords: string;
};

/** Writes Resumo, which needs the totals of all other sheets and stands before them, then packs the workbook. */
export async function finishWorkbook<Plan extends AnyPlan>(
  work: ReportWork<Plan>,
  tables: Finished,
  digest: Buffer,
  front: Front<Plan>,
): Promise<void> {
  const { db, plan, rendering, scope, tally, factory, factsAtCut } = work;
  const { texts } = rendering;
  const setup = { title: front.name, widths: front.widths, tabColor: 'FF17375E', showsGrid: false, breaksPages: true };
  const sheet = openSheet({ ...setup, footer: factory.footer }, factory.next());
  const statements = await readStatements(db, { ...scope, madeAt: plan.madeAt });
  const sheets = ORDER.flatMap((one) => (tables[one] ? [{ name: texts.sheets[one], table: tables[one] }] : []));
  front.write(sheet, {
    plan,
    texts,
    platformNames: rendering.platformNames,
    actorOf: await labelPersons(work, listActors(plan)),
    platforms: tally.platforms,
    hours: tally.hours,
    counts: await readStatusCounts(db, { ...scope, eventSeq: plan.cut.eventSeq, factsAtCut }),
    openings: await readStatedOpenings(db, scope),
    statements: statements.filter((one) => plan.platform === undefined || one.platform === plan.platform),
    mismatches: tables.openMismatches,
    digest,
    shares: work.shares,
    tables: { ...tables, all: sheets.map(({ name, table }) => [name, table]) },
  });
  const { position, sealHash } = plan.cut;
  const chain = sealHash ? ` chain:${position}:${sealHash.toString('hex')}` : '';
  const properties = {
    title: front.title,
    subject: front.subject,
    keywords: `confere ${front.keywords} ${texts.states[plan.state]}`,
    description: `sha256:${digest.toString('hex')} columns:${COLUMNS_VERSION}${chain}`,
    version: plan.version,
    madeAt: plan.madeAt,
  };
  const parts = [await sheet.end(), ...sheets.flatMap(({ table }) => table.sheets)];
  await writeWorkbook(work.files.xlsx, parts, properties, factory.scratch);
}

/** The actor who accepted a surplus of the day, or closed the month. */
function listActors(plan: AnyPlan): string[] {
  const actor = 'days' in plan ? plan.close?.actor : plan.reading?.surplus?.actor;
  return actor === undefined ? [] : [actor];
}
