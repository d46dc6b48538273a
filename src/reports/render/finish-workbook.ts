import { readStatedOpenings, readStatusCounts } from '../read/read-counts.ts';
import type { MismatchCount } from '../read/read-mismatches.ts';
import { readStatements } from '../read/read-statements.ts';
import { fill, formatDay } from '../texts/texts.ts';
import { openSheet } from '../xlsx/open-sheet.ts';
import { writeWorkbook } from '../xlsx/write-workbook.ts';
import { COLUMNS_VERSION } from './columns.ts';
import type { FinishedTable } from './open-table.ts';
import type { ReportWork } from './report-work.ts';
import { SUMMARY_WIDTHS, writeSummary } from './write-summary.ts';

const ORDER = ['statement', 'receipts', 'payments', 'refunds', 'pending', 'mismatches', 'changes'] as const;

type Finished = Record<(typeof ORDER)[number], FinishedTable> & { openMismatches: MismatchCount[] };

/** Writes Resumo, which needs the totals of all other sheets and stands before them, then packs the workbook. */
export async function finishWorkbook(work: ReportWork, tables: Finished, digest: Buffer): Promise<void> {
  const { db, plan, rendering, scope, tally, factory, factsAtCut } = work;
  const { texts } = rendering;
  const widths = [SUMMARY_WIDTHS.label, ...Array(Math.max(4, tally.platforms.size + 1)).fill(SUMMARY_WIDTHS.number)];
  const setup = { title: texts.sheets.summary, widths, tabColor: 'FF17375E', showsGrid: false, breaksPages: true };
  const sheet = openSheet({ ...setup, footer: factory.footer }, factory.next());
  const statements = await readStatements(db, { ...scope, madeAt: plan.madeAt });
  writeSummary(sheet, {
    plan,
    texts,
    platforms: tally.platforms,
    hours: tally.hours,
    counts: await readStatusCounts(db, { ...scope, eventSeq: plan.cut.eventSeq, factsAtCut }),
    openings: await readStatedOpenings(db, scope),
    statements: statements.filter((one) => plan.platform === undefined || one.platform === plan.platform),
    mismatches: tables.openMismatches,
    digest,
    tables: { ...tables, all: ORDER.map((one) => [texts.sheets[one], tables[one]]) },
  });
  const sheets = [await sheet.end(), ...ORDER.flatMap((one) => tables[one].sheets)];
  const { position, sealHash } = plan.cut;
  const chain = sealHash ? ` chain:${position}:${sealHash.toString('hex')}` : '';
  const properties = {
    title: fill(texts.summary.title, { day: formatDay(plan.day) }),
    subject: `${texts.summary.revision} ${plan.revision}`,
    keywords: `confere ${plan.day} r${plan.revision} ${texts.states[plan.state]}`,
    description: `sha256:${digest.toString('hex')} columns:${COLUMNS_VERSION}${chain}`,
    version: plan.version,
    madeAt: plan.madeAt,
  };
  await writeWorkbook(work.files.xlsx, sheets, properties, factory.scratch);
}
