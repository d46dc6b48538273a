/**
 * Adds up what the ledger holds of receipts, payments and refunds, in the database. It shares no code with the rows of the
 * sheets (read-movements.ts, classify-movement.ts): a fault there makes a difference here.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import { OPENING_KINDS } from '../read/read-balances.ts';
import { matchesCut } from '../read/read-cut-entries.ts';
import type { MovementScope } from '../read/read-movements.ts';

/** Signed cents, debit positive. */
type Sums = {
  rows: number;
  /** Of `Liabilities:Receipts` or `Liabilities:Payables`, and the same without signs. */
  moved: bigint;
  movedAbsolute: bigint;
  /** Of the entries themselves, and of those that were posted later for the same event. */
  commission: bigint;
  lateCommission: bigint;
};

export type PaymentSums = Record<'receipts' | 'payments' | 'refunds', Sums>;

const SIDES = { receipts: 'Liabilities:Receipts:%', payables: 'Liabilities:Payables:%' } as const;
const COMMISSIONS = 'Expenses:Commission:%';

/** @returns the sums of all entries in force from `start` to before `end`, up to the cut. */
export async function sumPayments(db: Reader, scope: MovementScope): Promise<PaymentSums> {
  const commissions = await listAccounts(db, COMMISSIONS);
  const sums: PaymentSums = { receipts: noSums(), payments: noSums(), refunds: noSums() };
  for (const side of ['receipts', 'payables'] as const) {
    const accounts = await listAccounts(db, SIDES[side]);
    if (accounts.length === 0) continue;
    const paidSheet = side === 'receipts' ? sums.receipts : sums.payments;
    for (const row of await sumSide(db, scope, { accounts, commissions })) {
      const sum = Number(row.is_paid) === 1 ? paidSheet : sums.refunds;
      sum.rows += Number(row.rows);
      sum.moved += BigInt(row.moved);
      sum.movedAbsolute += BigInt(row.moved_absolute);
      sum.commission += BigInt(row.commission ?? 0);
      sum.lateCommission += BigInt(row.late_commission ?? 0);
    }
  }
  return sums;
}

async function listAccounts(db: Reader, pattern: string): Promise<number[]> {
  const rows = await db.selectFrom('accounts').select('seq').where('name', 'like', pattern).execute();
  return rows.map(({ seq }) => seq);
}

type Accounts = { accounts: number[]; commissions: number[] };

async function sumSide(db: Reader, scope: MovementScope, { accounts, commissions }: Accounts) {
  return await db
    .selectFrom('entries')
    .innerJoin('postings', 'postings.entry_seq', 'entries.seq')
    .leftJoin('events', 'events.seq', 'entries.event_seq')
    // the days' entries first: the accounts' own postings are those of all time
    .modifyFront(sql`STRAIGHT_JOIN`)
    .select([
      sql<number>`COALESCE(events.status = 'paid', 0)`.as('is_paid'),
      sql<number>`COUNT(DISTINCT entries.seq)`.as('rows'),
      sql<string>`SUM(postings.amount_cents)`.as('moved'),
      sql<string>`SUM(ABS(postings.amount_cents))`.as('moved_absolute'),
      sql<string | null>`SUM(${sumCommission(commissions)})`.as('commission'),
      sql<string | null>`SUM(${sumLateCommission(scope, commissions)})`.as('late_commission'),
    ])
    .where('entries.at_wall', '>=', scope.start)
    .where('entries.at_wall', '<', scope.end)
    .where(matchesCut('entries.seq', scope))
    .where('entries.reverses_seq', 'is', null)
    .where('entries.kind', 'not in', [...OPENING_KINDS, 'adjustment'])
    .where('postings.account_seq', 'in', accounts)
    .where(isUnreversed('entries', scope))
    .$if(scope.platform !== undefined, (query) => query.where('entries.platform', '=', scope.platform ?? ''))
    .groupBy('is_paid')
    .execute();
}

function isUnreversed(entries: string, scope: MovementScope): RawBuilder<SqlBool> {
  return sql<SqlBool>`NOT EXISTS (SELECT 1 FROM entries reversal
    WHERE reversal.reverses_seq = ${sql.ref(`${entries}.seq`)} AND ${matchesCut('reversal.seq', scope)})`;
}

/** The commission that the entry itself posts. */
function sumCommission(commissions: number[]): RawBuilder<string> {
  if (commissions.length === 0) return sql<string>`0`;
  return sql<string>`(SELECT COALESCE(SUM(own.amount_cents), 0) FROM postings own
    WHERE own.entry_seq = entries.seq AND own.account_seq IN (${sql.join(commissions)}))`;
}

/** The commission that was learnt after the payment. */
function sumLateCommission(scope: MovementScope, commissions: number[]): RawBuilder<string> {
  if (commissions.length === 0) return sql<string>`0`;
  return sql<string>`(SELECT STRAIGHT_JOIN COALESCE(SUM(later.amount_cents), 0) FROM entries late
    JOIN postings later ON later.entry_seq = late.seq AND later.account_seq IN (${sql.join(commissions)})
    WHERE late.transaction_seq = entries.transaction_seq AND late.event_seq = entries.event_seq
      AND late.kind = 'commission' AND ${matchesCut('late.seq', scope)} AND ${isUnreversed('late', scope)})`;
}

function noSums(): Sums {
  return { rows: 0, moved: 0n, movedAbsolute: 0n, commission: 0n, lateCommission: 0n };
}
