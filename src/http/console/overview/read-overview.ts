import { sql } from 'kysely';
import type { Context } from '../../../context.ts';
import type { Reader } from '../../../database/reader.ts';
import { addDays, type Day, listDays } from '../../../domain/calendar.ts';
import { readProvenWindows } from '../../../reconciliation/numbers/read-coverage.ts';

export const DAYS_SHOWN = 14;

/** A day's receipts and payments by the journal, and whether a run has proven the day complete. */
export type DayTotals = {
  day: Day;
  receipts: { cents: bigint; count: number };
  payments: { cents: bigint; count: number };
  refundsCents: bigint;
  commissionCents: bigint;
  /** When its last complete reading or count began. The day is `proven` when that was after its end. */
  readAt: Date | undefined;
  proven: boolean;
};

/** Reads the totals of the last days, oldest first, today last. */
export async function readDayTotals(context: Context): Promise<DayTotals[]> {
  const today = context.calendar.dayOf(context.clock.now());
  const first = addDays(today, 1 - DAYS_SHOWN);
  const moved = await readMovedByDay(context.db, first, addDays(today, 1));
  const read = await readProvenWindows(context.db, first);
  return listDays(first, today).map((day) => {
    const of = (account: string, sign: 'plus' | 'minus') =>
      moved.get(`${day} ${account} ${sign}`) ?? { cents: 0n, count: 0 };
    const receipts = of('Liabilities:Receipts', 'minus');
    const commission = of('Expenses:Commission', 'plus').cents + of('Expenses:Commission', 'minus').cents;
    const readings = read.filter((window) => window.from <= day && window.to >= day).map((window) => window.at);
    const readAt = readings.toSorted((a, b) => a.getTime() - b.getTime()).at(-1);
    return {
      day,
      receipts: { cents: -receipts.cents, count: receipts.count },
      payments: of('Liabilities:Payables', 'plus'),
      refundsCents: of('Liabilities:Receipts', 'plus').cents - of('Liabilities:Payables', 'minus').cents,
      commissionCents: commission,
      readAt,
      proven: readAt !== undefined && readAt >= context.calendar.startOfDay(addDays(day, 1)),
    };
  });
}

/** Reads when the last webhook arrived, and how many are pending or quarantined. */
export async function readInboxCounts(
  db: Reader,
): Promise<{ lastAt: Date | undefined; pending: number; quarantined: number }> {
  const last = await db.selectFrom('webhooks').select('received_at').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  const rows = await db
    .selectFrom('webhooks')
    .select(['state', (eb) => eb.fn.countAll<number>().as('count')])
    .where('state', 'in', ['received', 'pending', 'quarantined'])
    .groupBy('state')
    .execute();
  const count = (...states: string[]): number =>
    rows.filter((row) => states.includes(row.state)).reduce((sum, row) => sum + Number(row.count), 0);
  return { lastAt: last?.received_at, pending: count('received', 'pending'), quarantined: count('quarantined') };
}

/** The sum and the number of postings, by day, account group and sign. */
async function readMovedByDay(db: Reader, from: Day, to: Day) {
  const accounts = await db.selectFrom('accounts').select(['seq', 'name']).execute();
  const groups = ['Liabilities:Receipts', 'Liabilities:Payables', 'Expenses:Commission'];
  const groupOf = new Map(
    accounts.flatMap(({ seq, name }) => {
      const group = groups.find((one) => name.startsWith(`${one}:`));
      return group === undefined ? [] : [[seq, group] as const];
    }),
  );
  const moved = new Map<string, { cents: bigint; count: number }>();
  if (groupOf.size === 0) return moved;
  const rows = await db
    .selectFrom('postings')
    .select(['account_seq', (eb) => eb.fn.countAll<number>().as('count')])
    .select(sql<string>`LEFT(at_wall, 10)`.as('day'))
    .select(sql<number>`amount_cents > 0`.as('is_plus'))
    .select(sql<bigint>`CAST(SUM(amount_cents) AS SIGNED)`.as('total_cents'))
    .where('account_seq', 'in', [...groupOf.keys()])
    .where('at_wall', '>=', `${from} 00:00:00`)
    .where('at_wall', '<', `${to} 00:00:00`)
    .groupBy(['account_seq', 'day', 'is_plus'])
    .execute();
  for (const row of rows) {
    const key = `${row.day} ${groupOf.get(row.account_seq)} ${Number(row.is_plus) === 1 ? 'plus' : 'minus'}`;
    const before = moved.get(key) ?? { cents: 0n, count: 0 };
    moved.set(key, { cents: before.cents + row.total_cents, count: before.count + Number(row.count) });
  }
  return moved;
}
