import { sql } from 'kysely';
import type { Context } from '../../../context.ts';
import type { Reader } from '../../../database/reader.ts';
import { addDays, type Day, listDays } from '../../../domain/calendar.ts';
import { provesDay } from '../../../domain/late-days.ts';
import { countStates, type StateCounts, usesOrders } from '../../../expected/read/count-orders.ts';
import { readProvenWindows } from '../../../reconciliation/numbers/read-coverage.ts';
import { t } from '../../../texts/translate.ts';

/** How many receipts and payments a day has: the rows of its sheets. */
export type PaidCounts = { receipts: number; payments: number };
/** When the last complete reading or count of a day began. The day is `proven` when that was after its end. */
export type DayProof = { day: Day; readAt: Date | undefined; proven: boolean };

/** Reads which days a run has proven complete. */
export async function readDayProofs({ db, calendar }: Context, range: { from: Day; to: Day }): Promise<DayProof[]> {
  const read = await readProvenWindows(db, range.from);
  return listDays(range.from, range.to).map((day) => {
    const readings = read.filter((window) => window.from <= day && window.to >= day);
    const newest = readings.toSorted((a, b) => a.askedAt.getTime() - b.askedAt.getTime()).at(-1);
    const from = calendar.provableFrom(day);
    return { day, readAt: newest?.askedAt, proven: readings.some((window) => provesDay(window, day, from)) };
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

/**
 * Counts what was paid today. A posting with the sign of a payment is one, unless it reverses a refund; a payment that was
 * reversed counts no more. So each reversal takes one away, and each has a side among the few postings of the other sign.
 */
export async function countPaidToday({ db, calendar, clock }: Context): Promise<PaidCounts> {
  const day = calendar.dayOf(clock.now());
  const accounts = await db.selectFrom('accounts').select(['seq', 'name']).execute();
  const count = async (root: string, sign: 1 | -1): Promise<number> => {
    const seqs = accounts.filter(({ name }) => name.startsWith(`${root}:`)).map(({ seq }) => seq);
    if (seqs.length === 0) return 0;
    const ofSign = (own: 1 | -1) =>
      db
        .selectFrom('postings')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('account_seq', 'in', seqs)
        .where('postings.at_wall', '>=', `${day} 00:00:00`)
        .where('postings.at_wall', '<', `${addDays(day, 1)} 00:00:00`)
        .where('amount_cents', own > 0 ? '>' : '<', 0n);
    const paid = await ofSign(sign).executeTakeFirst();
    // otherwise the server may begin with all entries there are
    const gone = await ofSign(sign === 1 ? -1 : 1)
      .modifyFront(sql`STRAIGHT_JOIN`)
      .innerJoin('entries', 'entries.seq', 'postings.entry_seq')
      .leftJoin('entries as reversal', 'reversal.reverses_seq', 'entries.seq')
      .where((eb) => eb.or([eb('entries.reverses_seq', 'is not', null), eb('reversal.seq', 'is not', null)]))
      .executeTakeFirst();
    return Number(paid?.count ?? 0) - Number(gone?.count ?? 0);
  };
  return { receipts: await count('Liabilities:Receipts', -1), payments: await count('Liabilities:Payables', 1) };
}

/** Counts of the orders that are due on a day. `isUsed`: there are expected payments at all. */
export type Orders = { day: Day; isUsed: boolean; states: StateCounts; undecided: number };

export async function readOrders(context: Context, day: Day): Promise<Orders> {
  return { day, isUsed: await usesOrders(context.db), ...(await countStates(context, { from: day, to: day })) };
}
