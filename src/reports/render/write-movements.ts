import { addDays, type Day, listDays } from '../../domain/calendar.ts';
import { sayReceiptsBegin } from '../../texts/reports/say-receipts-begin.ts';
import type { ReceiptShares } from '../orders/share-receipts.ts';
import { type AnyPlan, type FileFormat, spanOf, toWallTimeBounds } from '../plan/report-plan.ts';
import { sumPlatformTotals, type TotalsUntil } from '../read/create-tally.ts';
import { maskMovements } from '../read/mask-rows.ts';
import { type Movement, readLateCommissions, readMovements } from '../read/read-movements.ts';
import { readEarlierMovements } from './changes/read-earlier-movements.ts';
import * as columns from './columns.ts';
import { FORMAT_FACTS } from './formats/formats.ts';
import type { Output } from './formats/output.ts';
import type { FinishedTable, TableWriter } from './open-table.ts';
import { UNIDENTIFIED_COLUMNS } from './order-columns.ts';
import { nameEntered, openReportTable, type ReportWork } from './report-work.ts';

type Work = ReportWork<AnyPlan>;
export type MovementTables = Record<'statement' | 'receipts' | 'payments' | 'refunds', FinishedTable> & {
  unidentified: FinishedTable | undefined;
};
/**
 * Reads each movement once and writes it to the files of the given formats; for a workbook to its statement and, if in
 * force, to its own sheet.
 */
export async function writeMovements(
  work: Work,
  formats: readonly FileFormat[],
): Promise<{ tables: MovementTables | undefined; days: TotalsUntil[] }> {
  const { db, scope } = work;
  const tables = formats.includes('xlsx') ? openTables(work) : undefined;
  const showsOrders = tables !== undefined || formats.includes('nao-identificados');
  const files: Output[] = [];
  for (const format of formats) {
    const file = await FORMAT_FACTS[format].open?.(work, work.files[format]);
    if (file) files.push(file);
  }
  const outputs = [...(tables ? [tables] : []), ...files];
  await addEarlier(work, files);
  const days = followDays(work, outputs);
  await days.start();
  for await (const movements of readMovements(db, scope, work.factsAtCut)) {
    work.signal.throwIfAborted();
    for (const movement of movements) work.digest.addMovement(movement);
    const shares = showsOrders ? await work.shares?.share(movements) : undefined;
    const shown = await show(work, movements);
    for (const [index, movement] of shown.entries()) {
      while (days.isOver(movement)) await days.advance();
      // the opening balance of the first day holds these already
      if (movement.kind === 'opening' && days.isFirst()) continue;
      // sums go by the platform without a mask
      const { platform } = movements[index] ?? movement;
      const share = shares?.get(movement.entrySeq);
      const row = { movement, ...work.tally.add({ ...movement, platform }), share };
      for (const output of outputs) output.add(row);
    }
    await Promise.all(outputs.map((one) => one.drain()));
  }
  const totals = await days.end();
  for (const file of files) await file.end();
  return { tables: await tables?.end(), days: totals };
}

/** Masks movements where this reader sees no persons, and names who entered adjustments. */
async function show(work: Work, movements: Movement[]): Promise<Movement[]> {
  return await nameEntered(work, work.plan.masked ? await maskMovements(work.db, movements) : movements);
}

/** Adds what changed closed months to the files of programs that booked these months. */
async function addEarlier(work: Work, files: Output[]): Promise<void> {
  const takers = files.filter((file) => file.addEarlier !== undefined);
  if (takers.length === 0) return;
  for await (const movements of readEarlierMovements(work)) {
    work.signal.throwIfAborted();
    const shown = await show(work, movements);
    for (const movement of shown) for (const file of takers) file.addEarlier?.(movement);
    await Promise.all(takers.map((file) => file.drain()));
  }
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

function openUnidentified(work: Work, { orders }: ReceiptShares) {
  const { texts } = work.rendering;
  const begins = sayReceiptsBegin(
    orders.since.map(([, day]) => day),
    texts,
  );
  return openReportTable(work, 'unidentified', UNIDENTIFIED_COLUMNS, `${texts.notes.unidentified} ${begins}`.trim());
}

function openTables(work: Work): Output<MovementTables> {
  const statement = openReportTable(work, 'statement', columns.STATEMENT_COLUMNS);
  const tables = {
    receipts: openReportTable(work, 'receipts', columns.RECEIPT_COLUMNS),
    payments: openReportTable(work, 'payments', columns.PAYMENT_COLUMNS),
    refunds: openReportTable(work, 'refunds', columns.REFUND_COLUMNS),
  };
  const unidentified = work.shares && openUnidentified(work, work.shares);
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
      const { movement, share } = row;
      if (share && share.unidentified > 0n) unidentified?.add({ movement, share });
    },
    drain: () =>
      Promise.all(
        [statement, receipts, payments, refunds, ...(unidentified ? [unidentified] : [])].map((one) => one.drain()),
      ),
    end: async () => ({
      statement: await statement.end(),
      receipts: await receipts.end(),
      payments: await payments.end(),
      refunds: await refunds.end(),
      unidentified: await unidentified?.end(),
    }),
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
