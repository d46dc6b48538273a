/**
 * Writes the files of one revision: the workbook, the CSV and the journal, in one pass over the day's movements. All
 * rows come from the snapshot that the caller holds, and everything else from the plan, so the same plan gives the same
 * files anywhere. Memory does not grow with the day: rows go to the disk by the chunk, each sheet into a file of its
 * own, and the sums that head the workbook are put before them at the end.
 */
import path from 'node:path';

import type { Reader } from '../../database/reader.ts';
import { addDays } from '../../domain/calendar.ts';
import { type EventWindow, readEventWindow } from '../plan/read-event-window.ts';
import { type Format, type ReportPlan, toWallTimeBounds } from '../plan/report-plan.ts';
import { createTally, type Tally } from '../read/create-tally.ts';
import { createDigest, type RowDigest } from '../read/digest-rows.ts';
import { maskMovements, maskPending, maskReportedMismatches } from '../read/mask-rows.ts';
import { type AccountBalance, filterPlatform, readBalances } from '../read/read-balances.ts';
import { readStatedOpenings, readStatusCounts } from '../read/read-counts.ts';
import { type CutEntries, readCutEntries } from '../read/read-cut-entries.ts';
import { type FactsAtCut, readFactsAtCut } from '../read/read-facts-at-cut.ts';
import { countMismatches, readMismatches } from '../read/read-mismatches.ts';
import { type Movement, readLateCommissions, readMovements } from '../read/read-movements.ts';
import { readPending } from '../read/read-pending.ts';
import { readStatements, type StatedBalance } from '../read/read-statements.ts';
import { fill, formatDay, textsOf } from '../texts/texts.ts';
import { openSheet } from '../xlsx/open-sheet.ts';
import { writeWorkbook } from '../xlsx/write-workbook.ts';
import * as columns from './columns.ts';
import { createFactory, type ReportFactory } from './create-factory.ts';
import { describeChanges } from './describe-changes.ts';
import { type FinishedTable, openTable, type TableWriter } from './open-table.ts';
import { openTextFile } from './open-text-file.ts';
import { addCsvRow, startCsv } from './write-csv.ts';
import { addJournalEntry, endJournalDay, startJournal } from './write-journal.ts';
import { SUMMARY_WIDTHS, writeSummary } from './write-summary.ts';

/** `eventWindow` is of the snapshot that the rows were read from. */
export type WrittenReport = { digest: Buffer; files: Record<Format, string>; eventWindow: EventWindow };

/** @returns where in `directory`, which is there and is the caller's to remove, each format was written. */
export async function writeReport(db: Reader, plan: ReportPlan, directory: string): Promise<WrittenReport> {
  const ofCut = await readCutEntries(db, plan.cut);
  const scope = { ...toWallTimeBounds(plan.day, addDays(plan.day, 1)), ...ofCut, platform: plan.platform };
  const balances = filterPlatform(await readBalances(db, scope), plan.platform);
  const rendering = {
    texts: textsOf(plan.locale),
    fullDocuments: plan.fullDocuments,
    toWall: memoWall(plan),
  };
  const digest = createDigest(plan.day, plan.platform);
  for (const balance of balances) digest.addBalance(balance);
  const failed = new AbortController();
  const work: Work = {
    signal: failed.signal,
    db,
    plan,
    scope,
    rendering,
    digest,
    balances,
    known: await readFactsAtCut(db, { ...plan.cut, ...ofCut }),
    tally: createTally(balances, plan.platform),
    factory: createFactory(plan, rendering.texts, directory, failed.signal),
    files: {
      xlsx: path.join(directory, 'report.xlsx'),
      csv: path.join(directory, 'report.csv'),
      journal: path.join(directory, 'report.journal'),
    },
  };
  try {
    const day = await writeMovements(work);
    const pending = await writePending(work);
    const rowsDigest = digest.end();
    const rest = await writeOthers(work, rowsDigest);
    await finishWorkbook(work, { ...day, pending, ...rest }, rowsDigest);
    const eventWindow = plan.cut.eventWindow ?? (await readEventWindow(db, plan.cut.eventSeq));
    return { digest: rowsDigest, files: work.files, eventWindow };
  } catch (error) {
    failed.abort();
    throw error;
  }
}

type Work = {
  signal: AbortSignal;
  db: Reader;
  plan: ReportPlan;
  scope: { start: string; end: string; platform: string | undefined } & CutEntries;
  rendering: columns.RenderContext;
  digest: RowDigest;
  balances: AccountBalance[];
  known: FactsAtCut;
  tally: Tally;
  factory: ReportFactory;
  files: Record<Format, string>;
};

/** One pass: every movement goes to the statement, the CSV and the journal, and those in force to their own sheets. */
async function writeMovements(work: Work) {
  const { db, plan, rendering, scope } = work;
  const texts = rendering.texts;
  const open = <Row>(name: 'statement' | 'receipts' | 'payments' | 'refunds', list: columns.ReportColumn<Row>[]) =>
    openTable<Row>(work.factory, { title: texts.sheets[name], note: texts.notes[name], columns: list }, rendering);
  const statement = open('statement', columns.STATEMENT_COLUMNS);
  const receipts = open('receipts', columns.RECEIPT_COLUMNS);
  const payments = open('payments', columns.PAYMENT_COLUMNS);
  const refunds = open('refunds', columns.REFUND_COLUMNS);
  const csv = await openTextFile(work.files.csv, work.signal);
  const journalFile = await openTextFile(work.files.journal, work.signal);
  startCsv(csv, columns.STATEMENT_COLUMNS, rendering);
  const note = `Confere, ${plan.day}, revision ${plan.revision}, cut ${plan.cut.entrySeq}`;
  const { position, sealHash } = plan.cut;
  const chain = sealHash ? `, chain ${position} sha256:${sealHash.toString('hex')}` : '';
  const head = { day: plan.day, balances: work.balances, note: `${note}${chain}`, masked: plan.masked };
  const journal = startJournal(journalFile, head);
  const late = await readLateCommissions(db, scope);

  for await (const movements of readMovements(db, scope, work.known)) {
    for (const movement of movements) work.digest.addMovement(movement);
    const shown = plan.masked ? await maskMovements(db, movements) : movements;
    for (const [index, movement] of shown.entries()) {
      // sums and accounts go by the platform as it is
      const { platform } = movements[index] ?? movement;
      // what opens the books is part of the opening balance already
      if (movement.kind === 'opening') continue;
      const row = { movement, ...work.tally.add({ ...movement, platform }) };
      statement.add(row);
      addCsvRow(csv, columns.STATEMENT_COLUMNS, row, rendering);
      addJournalEntry(journal, movement);
      if (movement.inForce) pickSheet(movement, { receipts, payments, refunds })?.add(withCommission(movement, late));
    }
    await Promise.all([statement, receipts, payments, refunds, csv, journalFile].map((one) => one.drain()));
  }
  endJournalDay(journal, plan.day);
  await csv.end();
  await journalFile.end();
  return {
    statement: await statement.end(),
    receipts: await receipts.end(),
    payments: await payments.end(),
    refunds: await refunds.end(),
  };
}

type PaymentTables = Record<'receipts' | 'payments' | 'refunds', TableWriter<columns.PaymentRow>>;

function pickSheet({ kind }: Movement, tables: PaymentTables): TableWriter<columns.PaymentRow> | undefined {
  if (kind === 'receipt') return tables.receipts;
  if (kind === 'payment') return tables.payments;
  return kind === 'refund_made' || kind === 'refund_received' ? tables.refunds : undefined;
}

function withCommission(movement: Movement, late: Map<number, bigint>): columns.PaymentRow {
  const more = movement.eventSeq === null ? 0n : (late.get(movement.eventSeq) ?? 0n);
  return { movement, commissionCents: movement.commissionCents + more };
}

/** What was open at the day's end: the last of what the digest holds. */
async function writePending(work: Work) {
  const { db, plan, rendering, scope } = work;
  const { sheets, notes } = rendering.texts;
  const table = { title: sheets.pending, note: notes.pending, columns: columns.PENDING_COLUMNS };
  const pending = openTable(work.factory, table, rendering);
  for await (const rows of readPending(db, { ...scope, cut: plan.cut, factsAtCut: work.known })) {
    for (const row of rows) work.digest.addPending(row);
    for (const row of plan.masked ? await maskPending(db, rows) : rows) pending.add(row);
    await pending.drain();
  }
  return await pending.end();
}

/** Mismatches, and what changed since the revision before. */
async function writeOthers(work: Work, digest: Buffer) {
  const { db, plan, rendering } = work;
  const { calendar, cut, platform } = plan;
  const texts = rendering.texts;
  const open = <Row>(name: 'mismatches' | 'changes', list: columns.ReportColumn<Row>[], note?: string) =>
    openTable<Row>(
      work.factory,
      { title: texts.sheets[name], note: note ?? texts.notes[name], columns: list },
      rendering,
    );
  const mismatches = open('mismatches', columns.MISMATCH_COLUMNS);
  const from = calendar.startOfDay(plan.day);
  const to = calendar.startOfDay(addDays(plan.day, 1));
  const asOfCut = { from, to, changeSeq: cut.mismatchChangeSeq, platform };
  const found = await readMismatches(db, asOfCut);
  for (const row of plan.masked ? await maskReportedMismatches(db, found) : found) mismatches.add(row);
  const described = describeChanges({ ...work, digest }, texts);
  const changes = open('changes', columns.CHANGE_COLUMNS, described.note);
  for await (const rows of described.rows) {
    for (const row of rows) changes.add(row);
    await changes.drain();
  }
  return {
    mismatches: await mismatches.end(),
    changes: await changes.end(),
    openMismatches: await countMismatches(db, asOfCut),
  };
}

type Tables = Awaited<ReturnType<typeof writeMovements>> &
  Awaited<ReturnType<typeof writeOthers>> & { pending: FinishedTable };

/** Resumo is written last, when all sums are known, and stands first. */
async function finishWorkbook(work: Work, tables: Tables, digest: Buffer): Promise<void> {
  const { db, plan, rendering, scope, tally } = work;
  const texts = rendering.texts;
  const widths = [SUMMARY_WIDTHS.label, ...Array(Math.max(4, tally.platforms.size + 1)).fill(SUMMARY_WIDTHS.number)];
  const sheet = openSheet(
    {
      title: texts.sheets.summary,
      widths,
      tabColor: 'FF17375E',
      showsGrid: false,
      breaksPages: true,
      footer: work.factory.footer,
    },
    work.factory.next(),
  );
  const order = ['statement', 'receipts', 'payments', 'refunds', 'pending', 'mismatches', 'changes'] as const;
  writeSummary(sheet, {
    plan,
    texts,
    platforms: tally.platforms,
    hours: tally.hours,
    counts: await readStatusCounts(db, { ...scope, eventSeq: plan.cut.eventSeq, known: work.known }),
    openings: await readStatedOpenings(db, scope),
    statements: await listStatements(work),
    mismatches: tables.openMismatches,
    digest,
    tables: { ...tables, all: order.map((one) => [texts.sheets[one], tables[one]]) },
  });
  const summary = await sheet.end();
  const properties = {
    title: fill(texts.summary.title, { day: formatDay(plan.day) }),
    subject: `${texts.summary.revision} ${plan.revision}`,
    keywords: `confere ${plan.day} r${plan.revision} ${texts.states[plan.state]}`,
    description: describeFile(work, digest),
    version: plan.version,
    madeAt: plan.madeAt,
  };
  const sheets = [summary, ...order.flatMap((one) => tables[one].sheets)];
  await writeWorkbook(work.files.xlsx, sheets, properties, work.factory.scratch);
}

function describeFile({ plan }: Work, digest: Buffer): string {
  const { position, sealHash } = plan.cut;
  const chain = sealHash ? ` chain:${position}:${sealHash.toString('hex')}` : '';
  return `sha256:${digest.toString('hex')} columns:${columns.COLUMNS_VERSION}${chain}`;
}

async function listStatements({ db, plan, scope }: Work): Promise<StatedBalance[]> {
  const stated = await readStatements(db, { ...scope, madeAt: plan.madeAt });
  return plan.platform === undefined ? stated : stated.filter((one) => one.platform === plan.platform);
}

/** Rows that were written together were recorded together: the last conversion serves most of the next ones. */
function memoWall({ calendar }: ReportPlan): (instant: Date) => string {
  let last = Number.NaN;
  let wall = '';
  return (instant) => {
    if (instant.getTime() !== last) {
      last = instant.getTime();
      wall = calendar.toWallTime(instant);
    }
    return wall;
  };
}
