/** Fees of a month, as charged and by the contracts: by platform and operation, and the payments that differ. */
import { sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import { inForce } from '../../database/shared/in-force.ts';
import { addDays, boundsOfMonth, type Day, type Month } from '../../domain/calendar.ts';
import { append } from '../../domain/lists.ts';
import { NO_PLATFORM } from '../../domain/platform.ts';
import { OPERATIONS, type Operation } from '../../domain/statuses.ts';
import { type CommissionContract, findContract, readContracts } from '../journal/read-contracts.ts';

/** Payments that are named. */
export const DIFFERING_MAX = 50;

/** Sums over the payments that were paid in the month, by their commission of now. Cents. */
export type FeeRow = {
  platform: string;
  operation: Operation;
  payments: number;
  charged: bigint;
  /** Charged for the payments that a contract covers. */
  covered: bigint;
  /** By the contracts, half a cent rounded up, of the payments that one covers. */
  agreed: bigint;
  /** `covered` less `agreed`. */
  difference: bigint;
  /** Payments whose commission is not the contract's, however a part of a cent is rounded. */
  differing: number;
  /** Payments that no contract covers, or whose commission is not known. */
  uncovered: number;
};
/** Whether a contract covers any of the payments: else there is nothing to compare. */
export function isCovered({ payments, uncovered }: Pick<FeeRow, 'payments' | 'uncovered'>): boolean {
  return uncovered < payments;
}

export type DifferingPayment = { id: string; platform: string; operation: Operation; at: string } & Record<
  'amount' | 'charged' | 'agreed',
  bigint
>;
/** `payments`: the newest first. */
export type Fees = { rows: FeeRow[]; byHand: { platform: string; cents: bigint }[]; payments: DifferingPayment[] };

/**
 * @param given contracts, newest first, in the place of those that are stated.
 * @param max differing payments that are named. @param platform names only those of it.
 */
export async function readFees(
  db: Reader,
  month: Month,
  {
    given,
    max = DIFFERING_MAX,
    platform,
  }: { given?: CommissionContract[]; max?: number; platform?: string | undefined } = {},
): Promise<Fees> {
  const contracts = given ?? (await readContracts(db));
  const { from, to } = boundsOfMonth(month);
  const platforms = await listPlatforms(db);
  const rows = new Map<string, FeeRow>();
  const payments: DifferingPayment[] = [];
  const spans = splitDays(contracts, { from, to }).map((span) => selectPaid(contracts, platforms, span));
  for (const paid of spans) for (const row of (await sumPaid(paid).execute(db)).rows) add(rows, row);
  for (const paid of spans.toReversed()) {
    if (payments.length >= max) break;
    append(payments, (await listDiffering(paid, max, platform).execute(db)).rows.map(toPayment));
  }
  return {
    rows: [...rows.values()],
    byHand: await readByHand(db, { from, to }),
    payments: payments.slice(0, max),
  };
}

/** Days of the month between which no contract begins or ends. */
function splitDays(contracts: CommissionContract[], { from, to }: Span): Span[] {
  const edges = contracts.flatMap((one) => [one.from, ...(one.to === null ? [] : [addDays(one.to, 1)])]);
  const starts = [...new Set([from, ...edges.filter((day) => day > from && day <= to)])].sort();
  return starts.map((start, index) => {
    const next = starts[index + 1];
    return { from: start, to: next === undefined ? to : addDays(next, -1) };
  });
}

export type Span = { from: Day; to: Day };

async function listPlatforms(db: Reader): Promise<(string | null)[]> {
  const rows = await db.selectFrom('transactions').select('platform').distinct().execute();
  return rows.map(({ platform }) => platform);
}

/** The payments of days that have one contract a platform and operation, each with its price: of its first event in force that paid it. */
function selectPaid(contracts: CommissionContract[], platforms: (string | null)[], { from, to }: Span) {
  const prices = platforms.flatMap((platform) =>
    OPERATIONS.flatMap((operation) => {
      const one = findContract(contracts, { platform, operation, day: from });
      return one
        ? [
            sql`SELECT ${platform} AS platform, ${operation} AS operation, ${one.fixedCents} AS fixed, ${one.basisPoints} AS points`,
          ]
        : [];
    }),
  );
  const none = sql`SELECT NULL AS platform, NULL AS operation, NULL AS fixed, NULL AS points`;
  // beyond 64 bits for the greatest amounts
  const share = sql`transactions.amount_cents * CAST(price.points AS DECIMAL(5))`;
  return sql`SELECT COALESCE(transactions.platform, ${NO_PLATFORM}) AS platform, transactions.operation, transactions.id,
      events.at_wall AS at, transactions.amount_cents AS amount, transactions.commission_cents AS charged,
      price.fixed + (${share} + 5000) DIV 10000 AS agreed, price.fixed + (${share}) DIV 10000 AS low,
      price.fixed + (${share} + 9999) DIV 10000 AS high
    FROM events JOIN transactions ON transactions.seq = events.transaction_seq
    LEFT JOIN (${prices.length === 0 ? none : sql.join(prices, sql` UNION ALL `)}) AS price
      ON BINARY price.operation = transactions.operation AND BINARY price.platform <=> transactions.platform
    WHERE events.status = 'paid' AND events.at_wall >= ${`${from} 00:00:00`} AND events.at_wall < ${`${addDays(to, 1)} 00:00:00`}
      AND ${inForce('events')} = 1 AND NOT EXISTS (SELECT 1 FROM events AS earlier
        WHERE earlier.transaction_seq = events.transaction_seq AND earlier.status = 'paid'
          AND (earlier.at_wall, earlier.seq) < (events.at_wall, events.seq) AND ${inForce('earlier')} = 1)`;
}

type Paid = ReturnType<typeof selectPaid>;
type Sum = { platform: string; operation: Operation } & Record<
  'payments' | 'charged' | 'agreed' | 'covered' | 'differing' | 'uncovered',
  string | number
>;

function sumPaid(paid: Paid) {
  return sql<Sum>`SELECT platform, operation, COUNT(*) AS payments, COALESCE(SUM(charged), 0) AS charged,
      COALESCE(SUM(IF(charged IS NULL, NULL, agreed)), 0) AS agreed,
      COALESCE(SUM(IF(agreed IS NULL, NULL, charged)), 0) AS covered,
      COALESCE(SUM(charged < low OR charged > high), 0) AS differing,
      SUM(agreed IS NULL OR charged IS NULL) AS uncovered
    FROM (${paid}) AS paid GROUP BY platform, operation ORDER BY platform, operation`;
}

/** The payments of a day and platform; `charged` and `agreed` are cents of the `differing` ones alone. */
export type DayDifference = { day: Day; platform: string } & Record<'payments' | 'uncovered' | 'differing', number> &
  Record<'charged' | 'agreed', bigint>;

/** Sums the payments of a range by day and platform. @param contracts newest first. */
export async function sumDifferences(
  db: Reader,
  contracts: CommissionContract[],
  range: Span,
): Promise<DayDifference[]> {
  const platforms = await listPlatforms(db);
  const days: DayDifference[] = [];
  for (const span of splitDays(contracts, range)) {
    const differs = sql`(charged < low OR charged > high)`;
    const { rows } = await sql<Record<keyof DayDifference, string>>`SELECT SUBSTR(at, 1, 10) AS day, platform,
        COUNT(*) AS payments, SUM(agreed IS NULL) AS uncovered, COALESCE(SUM(${differs}), 0) AS differing,
        COALESCE(SUM(IF(${differs}, charged, 0)), 0) AS charged, COALESCE(SUM(IF(${differs}, agreed, 0)), 0) AS agreed
      FROM (${selectPaid(contracts, platforms, span)}) AS paid GROUP BY day, platform ORDER BY day, platform`.execute(
      db,
    );
    const count = (text: string): number => Number(text);
    append(
      days,
      rows.map(({ day, platform, payments, uncovered, differing, charged, agreed }) => ({
        ...{ day, platform, payments: count(payments), uncovered: count(uncovered), differing: count(differing) },
        ...{ charged: BigInt(charged), agreed: BigInt(agreed) },
      })),
    );
  }
  return days;
}

function add(rows: Map<string, FeeRow>, row: Sum): void {
  const { platform, operation } = row;
  const key = JSON.stringify([platform, operation]);
  const before = rows.get(key) ?? {
    ...{ platform, operation, payments: 0, charged: 0n, covered: 0n, agreed: 0n, difference: 0n },
    ...{ differing: 0, uncovered: 0 },
  };
  rows.set(key, {
    ...{ platform, operation, payments: before.payments + Number(row.payments) },
    ...{ charged: before.charged + BigInt(row.charged), agreed: before.agreed + BigInt(row.agreed) },
    covered: before.covered + BigInt(row.covered),
    difference: before.difference + BigInt(row.covered) - BigInt(row.agreed),
    ...{ differing: before.differing + Number(row.differing), uncovered: before.uncovered + Number(row.uncovered) },
  });
}

type Listed = Omit<DifferingPayment, 'amount' | 'charged' | 'agreed'> &
  Record<'amount' | 'charged' | 'agreed', string | bigint>;

function listDiffering(paid: Paid, max: number, platform: string | undefined) {
  return sql<Listed>`SELECT id, platform, operation, at, amount, charged, agreed FROM (${paid}) AS paid
    WHERE (charged < low OR charged > high)${platform === undefined ? sql`` : sql` AND BINARY platform = ${platform}`} ORDER BY at DESC, id LIMIT ${sql.lit(max)}`;
}

function toPayment({ amount, charged, agreed, ...payment }: Listed): DifferingPayment {
  return { ...payment, amount: BigInt(amount), charged: BigInt(charged), agreed: BigInt(agreed) };
}

/** Fees that people entered for days of the month, less those that they took back. */
async function readByHand(db: Reader, { from, to }: Span): Promise<Fees['byHand']> {
  const rows = await db
    .selectFrom('adjustments')
    .select(['platform', sql<string>`-SUM(amount_cents)`.as('cents')])
    .where('kind', '=', 'fee')
    .where('day', '>=', from)
    .where('day', '<=', to)
    .groupBy('platform')
    .execute();
  return rows.map(({ platform, cents }) => ({ platform, cents: BigInt(cents) }));
}
