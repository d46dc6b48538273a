/**
 * Adds up what the ledger holds of receipts, payments and refunds, in the database. It shares no code with the rows of the
 * sheets (read-movements.ts, classify-movement.ts): a fault there makes a difference here.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import { OPENING_KINDS } from '../read/read-accounts.ts';
import { matchesCut } from '../read/read-cut-entries.ts';
import type { MovementScope } from '../read/read-movements.ts';

/** Signed cents, debit positive. */
type Sums = {
  rows: number;
  /** Sums `Liabilities:Receipts` or `Liabilities:Payables`; then without signs. */
  moved: bigint;
  movedAbsolute: bigint;
  /** Sums the entries themselves; then those posted later for their event. */
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
    const sumOf = ({ is_paid }: { is_paid: number }) => (Number(is_paid) === 1 ? paidSheet : sums.refunds);
    for (const row of await sumSide(db, scope, { accounts, commissions })) {
      const sum = sumOf(row);
      sum.rows += Number(row.rows);
      sum.moved += BigInt(row.moved);
      sum.movedAbsolute += BigInt(row.moved_absolute);
      sum.commission += BigInt(row.commission ?? 0);
    }
    for (const row of await sumLateCommissions(db, scope, { accounts, commissions }))
      sumOf(row).lateCommission += BigInt(row.late_commission);
  }
  return sums;
}

async function listAccounts(db: Reader, pattern: string): Promise<number[]> {
  const rows = await db.selectFrom('accounts').select('seq').where('name', 'like', pattern).execute();
  return rows.map(({ seq }) => seq);
}

type Accounts = { accounts: number[]; commissions: number[] };

/** An entry has at most one posting to each account: a second one would count its amounts twice, which is a difference. */
async function sumSide(db: Reader, scope: MovementScope, { accounts, commissions }: Accounts) {
  return await selectPayments(db, scope)
    .innerJoin('postings', 'postings.entry_seq', 'entries.seq')
    .where('postings.account_seq', 'in', accounts)
    .leftJoin('postings as own', (join) =>
      join
        .onRef('own.entry_seq', '=', 'entries.seq')
        // no account has number 0
        .on('own.account_seq', 'in', commissions.length === 0 ? [0] : commissions),
    )
    .select([
      sql<number>`COUNT(DISTINCT entries.seq)`.as('rows'),
      sql<string>`SUM(postings.amount_cents)`.as('moved'),
      sql<string>`SUM(ABS(postings.amount_cents))`.as('moved_absolute'),
      sql<string | null>`SUM(own.amount_cents)`.as('commission'),
    ])
    .execute();
}

/** The commissions that were learnt after the payment, on any day. Few payments have one: it is joined before their postings. */
async function sumLateCommissions(db: Reader, scope: MovementScope, { accounts, commissions }: Accounts) {
  if (commissions.length === 0) return [];
  return await selectPayments(db, scope)
    .innerJoin('entries as late', (join) =>
      join
        .onRef('late.transaction_seq', '=', 'entries.transaction_seq')
        .onRef('late.event_seq', '=', 'entries.event_seq')
        .on('late.kind', '=', 'commission')
        .on(matchesCut('late.seq', scope)),
    )
    .where(isUnreversed('late', scope))
    .innerJoin('postings as later', 'later.entry_seq', 'late.seq')
    .where('later.account_seq', 'in', commissions)
    .innerJoin('postings', 'postings.entry_seq', 'entries.seq')
    .where('postings.account_seq', 'in', accounts)
    .select(sql<string>`SUM(later.amount_cents)`.as('late_commission'))
    .execute();
}

/** Entries in force of the days, grouped by whether they were paid. Tables are read in the order in which they are joined. */
function selectPayments(db: Reader, scope: MovementScope) {
  return (
    db
      .selectFrom('entries')
      .leftJoin('events', 'events.seq', 'entries.event_seq')
      // the days' entries first: the accounts' own postings are those of all time
      .modifyFront(sql`STRAIGHT_JOIN`)
      .select(sql<number>`COALESCE(events.status = 'paid', 0)`.as('is_paid'))
      .where('entries.at_wall', '>=', scope.start)
      .where('entries.at_wall', '<', scope.end)
      .where(matchesCut('entries.seq', scope))
      .where('entries.reverses_seq', 'is', null)
      .where('entries.kind', 'not in', [...OPENING_KINDS, 'adjustment'])
      .where(isUnreversed('entries', scope))
      .$if(scope.platform !== undefined, (query) => query.where('entries.platform', '=', scope.platform ?? ''))
      .groupBy('is_paid')
  );
}

function isUnreversed(entries: 'entries' | 'late', scope: MovementScope): RawBuilder<SqlBool> {
  return sql<SqlBool>`NOT EXISTS (SELECT 1 FROM entries reversal
    WHERE reversal.reverses_seq = ${sql.ref(`${entries}.seq`)} AND ${matchesCut('reversal.seq', scope)})`;
}

function noSums(): Sums {
  return { rows: 0, moved: 0n, movedAbsolute: 0n, commission: 0n, lateCommission: 0n };
}
