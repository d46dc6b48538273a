/** The figures of each sheet as the ledger has them at the cut: from the database, and from nothing that the writer counted. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import { addDays } from '../../domain/calendar.ts';
import { splitAmount } from '../../expected/decide/split-amount.ts';
import type { Texts } from '../../texts/reports/texts.ts';
import { readReceivables } from '../orders/read-receivables.ts';
import { type ReceiptShare, sumShares } from '../orders/share-receipts.ts';
import { type SummedShares, sumReceiptShares } from '../orders/sum-receipt-shares.ts';
import { type AnyPlan, type ClosedMonth, type RangePlan, spanOf } from '../plan/report-plan.ts';
import { HELD, isBalanceAccount, OPENING_KINDS, splitAccount, sumMoved } from '../read/read-accounts.ts';
import { matchesCut } from '../read/read-cut-entries.ts';
import { readDayEnds } from '../read/read-day-ends.ts';
import { sumMismatches } from '../read/read-mismatches.ts';
import { readPending } from '../read/read-pending.ts';
import { describeAdjustments } from '../render/changes/describe-adjustments.ts';
import { describeChanges } from '../render/changes/describe-changes.ts';
import type { ChangeRow } from '../render/columns.ts';
import type { ReportWork } from '../render/report-work.ts';
import { sumHandedIn } from '../render/write-carried.ts';
import { scopeOfReceivables } from '../render/write-open-items.ts';
import { sumPayments } from './sum-payments.ts';
import { sumRunningBalances } from './sum-running-balances.ts';

export type TableName = Exclude<keyof Texts['sheets'], 'summary'>;
type ColumnName = keyof Texts['columns'];

/** Counts a sheet's data rows, and sums each column of money in cents. */
export type SheetFigures = { rows: number; sums: Partial<Record<ColumnName, bigint>> };

/** In cents. */
export type BalanceFigures = { opening: bigint; closing: bigint; held: bigint };

export type ExpectedFigures = {
  tables: Partial<Record<TableName, SheetFigures>>;
  /** By the platform's segment of account names. */
  platforms: Map<string, BalanceFigures>;
  total: BalanceFigures;
  /** Movements of the balance, over all platforms, each with its sign. */
  moved: Record<'receipts' | 'commissions' | 'payments' | 'refundsMade' | 'refundsReceived', bigint>;
  /** How much of the receipts is of orders, by platform as above; undefined where the file shows none. */
  shares: ReadonlyMap<string, ReceiptShare> | undefined;
  /** The end of each day of a range; none for a day's workbook. */
  days: Pick<BalanceFigures, 'closing' | 'held'>[];
};

/** @param digest of the rows, which *Alterações* compares with the revision before. */
export async function readExpected(work: ReportWork<AnyPlan>, digest: Buffer): Promise<ExpectedFigures> {
  const { db, plan, scope, balances } = work;
  const payments = await sumPayments(db, scope);
  const { receipts, payments: paid, refunds } = payments;
  // made are debits, received are credits
  const [made, received] = [refunds.movedAbsolute + refunds.moved, refunds.movedAbsolute - refunds.moved].map(
    (one) => one / 2n,
  ) as [bigint, bigint];
  const commissionOf = (one: typeof paid): bigint => one.commission + one.lateCommission;
  const platforms = listPlatforms(work);
  const statement = await sumStatement(work, platforms);
  const shares = work.shares && (await sumReceiptShares(db, scope, work.shares.orders));
  return {
    tables: {
      statement,
      receipts: {
        rows: receipts.rows,
        sums: {
          amount: -receipts.moved,
          commission: commissionOf(receipts),
          net: -receipts.moved - commissionOf(receipts),
        },
      },
      payments: {
        rows: paid.rows,
        sums: { amount: paid.moved, commission: commissionOf(paid), cost: paid.moved + commissionOf(paid) },
      },
      refunds: {
        rows: refunds.rows,
        sums: {
          amount: refunds.movedAbsolute,
          refundMade: made,
          refundReceived: received,
          commissionReturned: -commissionOf(refunds),
          effect: -refunds.moved - refunds.commission,
        },
      },
      pending: await sumPending(work),
      ...(shares && {
        receivable: await sumReceivables(work),
        unidentified: toSheetFigures(shares),
      }),
      mismatches: await sumReportedMismatches(db, plan, scope.platform),
      ...('days' in plan
        ? plan.base && { adjustments: await sumAdjustments({ ...work, plan }, plan.base) }
        : { changes: await sumChanges(describeChanges({ ...work, plan }, digest).rows) }),
    },
    platforms,
    shares: shares?.platforms,
    total: sumBalances(platforms.values()),
    moved: {
      ...{ receipts: -receipts.moved, payments: -paid.moved, refundsMade: -made, refundsReceived: received },
      commissions: -(statement.sums.commission ?? 0n),
    },
    days: 'days' in plan ? await readDayEnds(db, { ...scope, balances, days: plan.days.map((one) => one.day) }) : [],
  };
}

async function sumStatement(work: ReportWork<AnyPlan>, platforms: ExpectedFigures['platforms']): Promise<SheetFigures> {
  const { db } = work;
  const isShown = isMovement(work);
  const { rows } = await db
    .selectFrom('entries')
    .leftJoin('entries as origin', 'origin.seq', 'entries.reverses_seq')
    .select((eb) => eb.fn.countAll<number>().as('rows'))
    .where(isShown)
    .executeTakeFirstOrThrow();
  const moved = await sumMoved(db, isShown);
  let [net, held, commission] = [0n, 0n, 0n];
  const balanceAccounts: number[] = [];
  for (const { seq, name } of await db.selectFrom('accounts').select(['seq', 'name']).execute()) {
    const { root } = splitAccount(name);
    const sum = moved.get(seq) ?? 0n;
    if (isBalanceAccount(root)) {
      net += sum;
      balanceAccounts.push(seq);
    }
    if (root === HELD) held += sum;
    if (root.startsWith('Expenses:Commission')) commission += sum;
  }
  const platformBalance = await sumRunningBalances(db, { isShown, balanceAccounts }, platforms);
  return { rows: Number(rows), sums: { amount: net + commission, commission, net, heldChange: held, platformBalance } };
}

/** The condition for movements: entries of the days, but for openings of the first one, which its opening balance holds. */
function isMovement({ plan, scope }: ReportWork<AnyPlan>): RawBuilder<SqlBool> {
  const firstEnd = `${addDays(spanOf(plan).from, 1)} 00:00:00`;
  const ofPlatform = scope.platform === undefined ? sql`TRUE` : sql`entries.platform = ${scope.platform}`;
  return sql<SqlBool>`entries.at_wall >= ${scope.start} AND entries.at_wall < ${scope.end}
    AND ${matchesCut('entries.seq', scope)} AND ${ofPlatform}
    AND (entries.at_wall >= ${firstEnd} OR COALESCE(origin.kind, entries.kind) NOT IN (${sql.join(OPENING_KINDS)}))`;
}

/** Reads the open transactions again: their histories at the cut are no sum of the database. */
async function sumPending({ db, plan, scope, factsAtCut }: ReportWork<AnyPlan>): Promise<SheetFigures> {
  const sums = { amount: 0n, toReceive: 0n, toPay: 0n, held: 0n };
  let count = 0;
  for await (const rows of readPending(db, { ...scope, cut: plan.cut, factsAtCut })) {
    count += rows.length;
    for (const row of rows) {
      sums.amount += row.amountCents;
      sums[row.operation === 'cashin' ? 'toReceive' : 'toPay'] += row.amountCents;
      sums.held += row.heldCents;
    }
  }
  return { rows: count, sums };
}

/** Reads the orders again, as the open transactions. */
async function sumReceivables(work: ReportWork<AnyPlan>): Promise<SheetFigures> {
  const sums = { amount: 0n, paid: 0n, returned: 0n, owed: 0n, surplus: 0n, notOwed: 0n };
  let count = 0;
  const scope = scopeOfReceivables(work);
  if (scope)
    for await (const rows of readReceivables(work.db, scope)) {
      count += rows.length;
      for (const row of rows) {
        sums.amount += row.amountCents;
        sums.paid += row.settledCents;
        sums.returned += row.returnedCents;
        const { owedCents, surplusCents, notOwedCents } = splitAmount(row);
        sums.owed += owedCents;
        sums.surplus += surplusCents;
        sums.notOwed += notOwedCents;
      }
    }
  return { rows: count, sums };
}

function toSheetFigures({ platforms, unidentified: { rows, amountCents, ofOrdersCents } }: SummedShares): SheetFigures {
  const { unidentified } = sumShares(platforms);
  return { rows, sums: { amount: amountCents, ofOrders: ofOrdersCents, unidentified } };
}

async function sumReportedMismatches(db: Reader, plan: AnyPlan, platform: string | undefined): Promise<SheetFigures> {
  const { from, to } = spanOf(plan);
  const { rows, stakeCents, transactionCents } = await sumMismatches(db, {
    from: plan.calendar.startOfDay(from),
    to: plan.calendar.startOfDay(addDays(to, 1)),
    changeSeq: plan.cut.mismatchChangeSeq,
    eventSeq: plan.cut.eventSeq,
    versionSeq: plan.cut.orders?.versionSeq,
    platform,
  });
  return { rows, sums: { atStake: stakeCents, transactionAmount: transactionCents } };
}

/** Compares the two cuts again. */
async function sumChanges(chunks: AsyncIterable<ChangeRow[]>): Promise<SheetFigures> {
  const sums = { effectBefore: 0n, effectAfter: 0n, difference: 0n };
  let count = 0;
  for await (const rows of chunks) {
    count += rows.length;
    for (const { effectBefore, effectAfter } of rows) {
      sums.effectBefore += effectBefore ?? 0n;
      sums.effectAfter += effectAfter ?? 0n;
      sums.difference += (effectAfter ?? 0n) - (effectBefore ?? 0n);
    }
  }
  return { rows: count, sums };
}

/**
 * Compares the cut of the close with the file's again. Their difference is also what the opening balance differs by from
 * the one that was handed in.
 */
async function sumAdjustments(work: ReportWork<RangePlan>, base: ClosedMonth): Promise<SheetFigures> {
  const { rows, sums } = await sumChanges(describeAdjustments(work, base));
  const before = work.balances
    .filter(({ account }) => isBalanceAccount(splitAccount(account).root))
    .reduce((sum, one) => sum + one.before, 0n);
  return { rows, sums: { ...sums, difference: before - sumHandedIn(base, work.plan.platform) } };
}

/** The opening balance of all platforms, by the ledger's own sums. */
export function sumOpening(work: ReportWork<AnyPlan>): bigint {
  return sumBalances(listPlatforms(work).values()).opening;
}

/** The balances by the ledger's own sums. */
function listPlatforms({ balances }: ReportWork<AnyPlan>): Map<string, BalanceFigures> {
  const platforms = new Map<string, BalanceFigures>();
  for (const { account, before, opened, end } of balances) {
    const { root, platform } = splitAccount(account);
    if (!isBalanceAccount(root)) continue;
    const one = platforms.get(platform) ?? { opening: 0n, closing: 0n, held: 0n };
    one.opening += before + opened;
    one.closing += end;
    if (root === HELD) one.held += end;
    platforms.set(platform, one);
  }
  return platforms;
}

function sumBalances(balances: Iterable<BalanceFigures>): BalanceFigures {
  const total = { opening: 0n, closing: 0n, held: 0n };
  for (const one of balances) {
    total.opening += one.opening;
    total.closing += one.closing;
    total.held += one.held;
  }
  return total;
}
