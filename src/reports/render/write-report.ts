/**
 * Writes the workbook, the CSV and the journal of one revision, in one pass over the day's movements. All rows come from
 * the caller's snapshot and everything else from the plan, so equal plans give equal files on any machine. Memory does
 * not grow with the day: rows go to the disk by the chunk, each sheet into a file of its own. Resumo, whose sums need
 * all rows, is written last and packed first.
 */
import path from 'node:path';
import type { Reader } from '../../database/reader.ts';
import { addDays } from '../../domain/calendar.ts';
import { type EventWindow, readEventWindow } from '../plan/read-event-window.ts';
import { type Format, type ReportPlan, toWallTimeBounds } from '../plan/report-plan.ts';
import { createTally } from '../read/create-tally.ts';
import { createDigest } from '../read/digest-rows.ts';
import { maskMovements, maskPending, maskReportedMismatches } from '../read/mask-rows.ts';
import { filterPlatform, readBalances } from '../read/read-balances.ts';
import { readCutEntries } from '../read/read-cut-entries.ts';
import { readFactsAtCut } from '../read/read-facts-at-cut.ts';
import { countMismatches, readMismatches } from '../read/read-mismatches.ts';
import { type Movement, readLateCommissions, readMovements } from '../read/read-movements.ts';
import { readPending } from '../read/read-pending.ts';
import { textsOf } from '../texts/texts.ts';
import * as columns from './columns.ts';
import { describeChanges } from './describe-changes.ts';
import { finishWorkbook } from './finish-workbook.ts';
import type { TableWriter } from './open-table.ts';
import { openTextFile } from './open-text-file.ts';
import { createFactory, openReportTable, type ReportWork } from './report-work.ts';
import { addCsvRow, startCsv } from './write-csv.ts';
import { addJournalEntry, endJournalDay, startJournal } from './write-journal.ts';

/** `eventWindow` comes from the snapshot of the rows. */
export type WrittenReport = { digest: Buffer; files: Record<Format, string>; eventWindow: EventWindow };

/** @returns where each format was written under `directory`, which the caller makes and removes. */
export async function writeReport(db: Reader, plan: ReportPlan, directory: string): Promise<WrittenReport> {
  const failed = new AbortController();
  const work = await prepareWork(db, plan, directory, failed.signal);
  try {
    const day = await writeMovements(work);
    const pending = await writePending(work);
    const digest = work.digest.end();
    const mismatches = await writeMismatches(work);
    const changes = await writeChanges(work, digest);
    await finishWorkbook(work, { ...day, pending, ...mismatches, changes }, digest);
    const eventWindow = plan.cut.eventWindow ?? (await readEventWindow(db, plan.cut.eventSeq));
    return { digest, files: work.files, eventWindow };
  } catch (error) {
    failed.abort();
    throw error;
  }
}

async function prepareWork(db: Reader, plan: ReportPlan, directory: string, signal: AbortSignal): Promise<ReportWork> {
  const cutEntries = await readCutEntries(db, plan.cut);
  const scope = { ...toWallTimeBounds(plan.day, addDays(plan.day, 1)), ...cutEntries, platform: plan.platform };
  const balances = filterPlatform(await readBalances(db, scope), plan.platform);
  const digest = createDigest(plan.day, plan.platform);
  for (const balance of balances) digest.addBalance(balance);
  const texts = textsOf(plan.locale);
  return {
    db,
    plan,
    scope,
    rendering: { texts, fullDocuments: plan.fullDocuments, toWall: memoizeWallTime(plan) },
    digest,
    balances,
    factsAtCut: await readFactsAtCut(db, { ...plan.cut, ...cutEntries }),
    tally: createTally(balances, plan.platform),
    factory: createFactory(plan, texts, directory, signal),
    files: {
      xlsx: path.join(directory, 'report.xlsx'),
      csv: path.join(directory, 'report.csv'),
      journal: path.join(directory, 'report.journal'),
    },
    signal,
  };
}

/** Writes each movement to the statement, the CSV and the journal, and those in force to their own sheets. */
async function writeMovements(work: ReportWork) {
  const { db, plan, rendering, scope } = work;
  const statement = openReportTable(work, 'statement', columns.STATEMENT_COLUMNS);
  const receipts = openReportTable(work, 'receipts', columns.RECEIPT_COLUMNS);
  const payments = openReportTable(work, 'payments', columns.PAYMENT_COLUMNS);
  const refunds = openReportTable(work, 'refunds', columns.REFUND_COLUMNS);
  const csv = await openTextFile(work.files.csv, work.signal);
  const journalFile = await openTextFile(work.files.journal, work.signal);
  startCsv(csv, columns.STATEMENT_COLUMNS, rendering);
  const head = { day: plan.day, balances: work.balances, note: nameJournal(plan), masked: plan.masked };
  const journal = startJournal(journalFile, head);
  const late = await readLateCommissions(db, scope);

  for await (const movements of readMovements(db, scope, work.factsAtCut)) {
    for (const movement of movements) work.digest.addMovement(movement);
    const shown = plan.masked ? await maskMovements(db, movements) : movements;
    for (const [index, movement] of shown.entries()) {
      // the opening balance holds these already
      if (movement.kind === 'opening') continue;
      // sums go by the platform without a mask
      const { platform } = movements[index] ?? movement;
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

function nameJournal({ day, revision, cut }: ReportPlan): string {
  const chain = cut.sealHash ? `, chain ${cut.position} sha256:${cut.sealHash.toString('hex')}` : '';
  return `Confere, ${day}, revision ${revision}, cut ${cut.entrySeq}${chain}`;
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

/** Writes what was open at the day's end, the last rows of the digest. */
async function writePending(work: ReportWork) {
  const { db, plan, scope, factsAtCut } = work;
  const pending = openReportTable(work, 'pending', columns.PENDING_COLUMNS);
  for await (const rows of readPending(db, { ...scope, cut: plan.cut, factsAtCut })) {
    for (const row of rows) work.digest.addPending(row);
    for (const row of plan.masked ? await maskPending(db, rows) : rows) pending.add(row);
    await pending.drain();
  }
  return await pending.end();
}

async function writeMismatches(work: ReportWork) {
  const { db, plan } = work;
  const mismatches = openReportTable(work, 'mismatches', columns.MISMATCH_COLUMNS);
  const from = plan.calendar.startOfDay(plan.day);
  const to = plan.calendar.startOfDay(addDays(plan.day, 1));
  const scope = { from, to, changeSeq: plan.cut.mismatchChangeSeq, platform: plan.platform };
  const found = await readMismatches(db, scope);
  for (const row of plan.masked ? await maskReportedMismatches(db, found) : found) mismatches.add(row);
  return { mismatches: await mismatches.end(), openMismatches: await countMismatches(db, scope) };
}

async function writeChanges(work: ReportWork, digest: Buffer) {
  const { note, rows: chunks } = describeChanges(work, digest);
  const changes = openReportTable(work, 'changes', columns.CHANGE_COLUMNS, note);
  for await (const rows of chunks) {
    for (const row of rows) changes.add(row);
    await changes.drain();
  }
  return await changes.end();
}

/** Rows that were written together were recorded together: the last conversion serves most of the next ones. */
function memoizeWallTime({ calendar }: ReportPlan): (instant: Date) => string {
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
