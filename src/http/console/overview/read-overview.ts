import { sql } from 'kysely';
import type { Context } from '../../../context.ts';
import type { Reader } from '../../../database/reader.ts';
import { addDays, type Day, listDays } from '../../../domain/calendar.ts';
import { provesDay } from '../../../domain/late-days.ts';
import { readProvenWindows } from '../../../reconciliation/numbers/read-coverage.ts';
import { t } from '../languages/translate.ts';

/** What moved on a day by the journal: a corrected payment counts here with what it corrects. */
export type DayTotals = {
  receipts: { cents: bigint; count: number };
  payments: { cents: bigint; count: number };
  refundsCents: bigint;
  commissionCents: bigint;
};
/** When the last complete reading or count of a day began. The day is `proven` when that was after its end. */
export type DayProof = { day: Day; readAt: Date | undefined; proven: boolean };

/** Reads the totals of today: of its payments alone, since a card shows their number. */
export async function readTodayTotals({ db, calendar, clock }: Context): Promise<DayTotals> {
  const moved = await readMoved(db, calendar.dayOf(clock.now()));
  const of = (account: string, sign: 'plus' | 'minus') => moved.get(`${account} ${sign}`) ?? { cents: 0n, count: 0 };
  const receipts = of('Liabilities:Receipts', 'minus');
  return {
    receipts: { cents: -receipts.cents, count: receipts.count },
    payments: of('Liabilities:Payables', 'plus'),
    refundsCents: of('Liabilities:Receipts', 'plus').cents - of('Liabilities:Payables', 'minus').cents,
    commissionCents: of('Expenses:Commission', 'plus').cents + of('Expenses:Commission', 'minus').cents,
  };
}

/** Reads which days a run has proven complete. */
export async function readDayProofs({ db, calendar }: Context, range: { from: Day; to: Day }): Promise<DayProof[]> {
  const read = await readProvenWindows(db, range.from);
  return listDays(range.from, range.to).map((day) => {
    const readings = read.filter((window) => window.from <= day && window.to >= day);
    const newest = readings.toSorted((a, b) => a.askedAt.getTime() - b.askedAt.getTime()).at(-1);
    const endsAt = calendar.startOfDay(addDays(day, 1));
    return { day, readAt: newest?.askedAt, proven: readings.some((window) => provesDay(window, day, endsAt)) };
  });
}

/** Says in words whether a day is proven. */
export function describeProof({ proven, readAt }: DayProof): string {
  if (proven) return t('provado');
  return readAt === undefined ? t('nunca lido por inteiro') : t('lido antes do fim do dia');
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

/** The sum and the number of a day's postings, by account group and sign. */
async function readMoved(db: Reader, day: Day) {
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
    .select(sql<number>`amount_cents > 0`.as('is_plus'))
    .select(sql<bigint>`CAST(SUM(amount_cents) AS SIGNED)`.as('total_cents'))
    .where('account_seq', 'in', [...groupOf.keys()])
    .where('at_wall', '>=', `${day} 00:00:00`)
    .where('at_wall', '<', `${addDays(day, 1)} 00:00:00`)
    .groupBy(['account_seq', 'is_plus'])
    .execute();
  for (const row of rows) {
    const key = `${groupOf.get(row.account_seq)} ${Number(row.is_plus) === 1 ? 'plus' : 'minus'}`;
    const before = moved.get(key) ?? { cents: 0n, count: 0 };
    moved.set(key, { cents: before.cents + row.total_cents, count: before.count + Number(row.count) });
  }
  return moved;
}
