import { addDays, type Day, listDays, type WallTime } from '../../domain/calendar.ts';
import { type AnyPlan, type Format, spanOf, toWallTimeBounds } from '../plan/report-plan.ts';
import { sumPlatformTotals, type TotalsUntil } from '../read/create-tally.ts';
import { maskMovements } from '../read/mask-rows.ts';
import { type Movement, readLateCommissions, readMovements } from '../read/read-movements.ts';
import * as columns from './columns.ts';
import type { FinishedTable, TableWriter } from './open-table.ts';
import { openTextFile } from './open-text-file.ts';
import { openReportTable, type ReportWork } from './report-work.ts';
import { addCsvRow, startCsv } from './write-csv.ts';
import { addJournalEntry, endJournalDay, startJournal } from './write-journal.ts';

type Work = ReportWork<AnyPlan>;
/** A file in one of the formats. `add` buffers; `drain` writes the buffer, so memory stays bounded. */
type Output<Ended = void> = {
  add(row: columns.StatementRow): void;
  /** Called at the start of each day, with the movements' bounds. */
  startDay?(bounds: { start: WallTime; end: WallTime }): Promise<void>;
  endDay?(day: Day): void;
  drain(): Promise<unknown>;
  end(): Promise<Ended>;
};

export type MovementTables = Record<'statement' | 'receipts' | 'payments' | 'refunds', FinishedTable>;
/**
 * Reads each movement once and writes it to the files of the given formats: to the CSV, to the journal, and to the
 * workbook's statement and, if in force, its own sheet.
 */
export async function writeMovements(
  work: Work,
  formats: readonly Format[],
): Promise<{ tables: MovementTables | undefined; days: TotalsUntil[] }> {
  const { db, plan, scope } = work;
  const tables = formats.includes('xlsx') ? openTables(work) : undefined;
  const csv = formats.includes('csv') ? await openCsv(work) : undefined;
  const journal = formats.includes('journal') ? await openJournal(work) : undefined;
  const outputs = [tables, csv, journal].filter((one) => one !== undefined);
  const days = followDays(work, outputs);
  await days.start();
  for await (const movements of readMovements(db, scope, work.factsAtCut)) {
    work.signal.throwIfAborted();
    for (const movement of movements) work.digest.addMovement(movement);
    const shown = plan.masked ? await maskMovements(db, movements) : movements;
    for (const [index, movement] of shown.entries()) {
      while (days.isOver(movement)) await days.advance();
      // the opening balance of the first day holds these already
      if (movement.kind === 'opening' && days.isFirst()) continue;
      // sums go by the platform without a mask
      const { platform } = movements[index] ?? movement;
      const row = { movement, ...work.tally.add({ ...movement, platform }) };
      for (const output of outputs) output.add(row);
    }
    await Promise.all(outputs.map((one) => one.drain()));
  }
  const totals = await days.end();
  await csv?.end();
  await journal?.end();
  return { tables: await tables?.end(), days: totals };
}

/** Starts and ends each day of the plan for the outputs, days without movements too. */
function followDays({ plan, tally }: Work, outputs: Output<unknown>[]) {
  const { from, to } = spanOf(plan);
  const days = listDays(from, to);
  const ended: TotalsUntil[] = [];
  let bounds = boundsOf(from);
  async function start(): Promise<void> {
    const day = days[ended.length];
    if (day === undefined) return;
    bounds = boundsOf(day);
    for (const output of outputs) await output.startDay?.(bounds);
  }
  async function advance(): Promise<void> {
    const day = days[ended.length] ?? to;
    ended.push({ day, totals: sumPlatformTotals(tally.platforms.values()) });
    for (const output of outputs) output.endDay?.(day);
    await start();
  }
  return {
    start,
    advance,
    isOver: ({ atWall }: Movement) => atWall >= bounds.end,
    isFirst: () => ended.length === 0,
    async end(): Promise<TotalsUntil[]> {
      while (ended.length < days.length) await advance();
      return ended;
    },
  };
}

function boundsOf(day: Day) {
  return toWallTimeBounds(day, addDays(day, 1));
}

function openTables(work: Work): Output<MovementTables> {
  const statement = openReportTable(work, 'statement', columns.STATEMENT_COLUMNS);
  const tables = {
    receipts: openReportTable(work, 'receipts', columns.RECEIPT_COLUMNS),
    payments: openReportTable(work, 'payments', columns.PAYMENT_COLUMNS),
    refunds: openReportTable(work, 'refunds', columns.REFUND_COLUMNS),
  };
  const { receipts, payments, refunds } = tables;
  let late = new Map<number, bigint>();
  return {
    async startDay(bounds) {
      // a commission is dated as its payment: a day's are enough, and few enough for the memory
      late = await readLateCommissions(work.db, { ...work.scope, ...bounds });
    },
    add(row) {
      statement.add(row);
      if (row.movement.inForce) pickSheet(row.movement, tables)?.add(withCommission(row.movement, late));
    },
    drain: () => Promise.all([statement, receipts, payments, refunds].map((one) => one.drain())),
    end: async () => ({
      statement: await statement.end(),
      receipts: await receipts.end(),
      payments: await payments.end(),
      refunds: await refunds.end(),
    }),
  };
}

/** Other programs know a platform by its id. */
async function openCsv({ files, signal, rendering: named }: Work): Promise<Output> {
  const rendering = { ...named, platformNames: new Map<string, string>() };
  const file = await openTextFile(files.csv, signal);
  startCsv(file, columns.STATEMENT_COLUMNS, rendering);
  return {
    add: (row) => addCsvRow(file, columns.STATEMENT_COLUMNS, row, rendering),
    drain: () => file.drain(),
    end: () => file.end(),
  };
}

async function openJournal({ files, signal, plan, balances }: Work): Promise<Output> {
  const file = await openTextFile(files.journal, signal);
  const { from } = spanOf(plan);
  const journal = startJournal(file, { day: from, balances, note: nameJournal(plan), masked: plan.masked });
  return {
    add: ({ movement }) => addJournalEntry(journal, movement),
    endDay: (day) => endJournalDay(journal, day),
    drain: () => file.drain(),
    end: () => file.end(),
  };
}

function nameJournal(plan: AnyPlan): string {
  const { from, to } = spanOf(plan);
  const { cut } = plan;
  const chain = cut.sealHash ? `, chain ${cut.position} sha256:${cut.sealHash.toString('hex')}` : '';
  const name = 'days' in plan ? `${from} to ${to}` : `${from}, revision ${plan.revision}`;
  return `Confere, ${name}, cut ${cut.entrySeq}${chain}`;
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
