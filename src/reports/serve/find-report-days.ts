import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { LATE_DAYS } from '../../domain/late-days.ts';
import { splitList } from '../../domain/lists.ts';
import { FINAL_STATUSES } from '../read/read-pending.ts';

const CHUNK_ROWS = 500;
/** The most days that are searched for a transaction that is still open: each day up to now may list it. */
const DAYS_MAX = 3_660;

/**
 * Finds the days whose reports may show one of these.
 * @param shown numbers of transactions, of changes of mismatches, and of versions of expected payments.
 */
export async function findReportDays(
  context: Context,
  shown: { transactions: number[]; changes: number[]; orders: number[] },
): Promise<Set<Day>> {
  const days = new Set<Day>();
  for (const some of splitList(shown.transactions, CHUNK_ROWS)) {
    await addTransactions(context, some, days);
  }
  for (const some of splitList(shown.orders, CHUNK_ROWS)) await addOrders(context, some, days);
  if (shown.changes.length === 0) return days;
  const reports = await context.db
    .selectFrom('reports')
    .select(['day', 'cut_mismatch_change_seq as cut'])
    .distinct()
    .execute();
  for (const some of splitList(shown.changes, CHUNK_ROWS)) {
    await addChanges(context, some, reports, days);
  }
  return days;
}

/** A report may show a transaction on each day from its creation to its last event; to today while it is open. */
async function addTransactions({ calendar, clock, db }: Context, seqs: number[], days: Set<Day>): Promise<void> {
  const today = calendar.dayOf(clock.now());
  const transactions = await db
    .selectFrom('transactions')
    .select(['seq', 'status', 'created_wall'])
    .where('seq', 'in', seqs)
    .execute();
  const lastOf = await readLastDays(db, seqs);
  for (const { seq, status, created_wall } of transactions) {
    const end = FINAL_STATUSES.includes(status) ? (lastOf.get(seq) ?? today) : today;
    let day = created_wall.slice(0, 10);
    for (let count = 0; day <= end && count < DAYS_MAX; count++, day = addDays(day, 1)) days.add(day);
  }
}

async function readLastDays(db: Reader, seqs: number[]): Promise<Map<number, Day>> {
  const rows = await db
    .selectFrom('events')
    .select(['transaction_seq', sql<string>`MAX(at_wall)`.as('last')])
    .where('transaction_seq', 'in', seqs)
    .groupBy('transaction_seq')
    .execute();
  return new Map(rows.map((row) => [row.transaction_seq, row.last.slice(0, 10)]));
}

/**
 * A report that shows orders may show one from the day of its issue or arrival to its last change, for as long as it counts as
 * overdue, and on the days of its payments, which may come before it.
 */
async function addOrders({ calendar, db }: Context, versionSeqs: number[], days: Set<Day>): Promise<void> {
  const spans = await db
    .selectFrom('expected_versions as version')
    .innerJoin('expected_payments as head', 'head.id', 'version.expected_id')
    .leftJoin('expected_changes as change', 'change.expected_seq', 'head.seq')
    .select(['head.seq', 'head.issued_day', 'head.created_day', 'version.due_day', sql<Date | null>`MAX(at)`.as('at')])
    .where('version.seq', 'in', versionSeqs)
    .groupBy(['head.seq', 'version.seq'])
    .execute();
  for (const { issued_day, created_day, due_day, at } of spans) {
    const [from = due_day] = [issued_day, created_day, due_day].sort();
    const ends = [addDays(due_day, LATE_DAYS), created_day, ...(at ? [calendar.dayOf(at)] : [])].sort();
    const shown = await db
      .selectFrom('reports')
      .select('day')
      .distinct()
      .where('cut_orders', 'is not', null)
      .where('day', '>=', from)
      .where('day', '<=', ends.at(-1) ?? due_day)
      .execute();
    for (const { day } of shown) days.add(day);
  }
  const paid = await db
    .selectFrom('expected_versions as version')
    .innerJoin('expected_payments as head', 'head.id', 'version.expected_id')
    .innerJoin('expected_matches as made', 'made.expected_seq', 'head.seq')
    .innerJoin('events', 'events.transaction_seq', 'made.transaction_seq')
    .select(sql<Day>`SUBSTR(events.at_wall, 1, 10)`.as('day'))
    .distinct()
    .where('version.seq', 'in', versionSeqs)
    .execute();
  for (const { day } of paid) days.add(day);
}

type ReportCut = { day: Day; cut: number };

/**
 * A report shows each mismatch with the note and the evidence of its newest change up to the cut. A mismatch that was
 * resolved by then is only on the report of the day of its opening.
 */
async function addChanges(
  { calendar, db }: Context,
  seqs: number[],
  reports: ReportCut[],
  days: Set<Day>,
): Promise<void> {
  const changes = await db
    .selectFrom('mismatch_changes as change')
    .select(['change.seq', 'change.state', 'change.opened_at'])
    .select(
      sql<number | null>`(SELECT MIN(later.seq) FROM mismatch_changes later
        WHERE later.mismatch_seq = change.mismatch_seq AND later.seq > change.seq)`.as('next'),
    )
    .where('change.seq', 'in', seqs)
    .execute();
  for (const { seq, state, opened_at, next } of changes) {
    const only = state === 'resolved' && opened_at !== null ? calendar.dayOf(opened_at) : undefined;
    for (const { day, cut } of reports) {
      const isShown = cut >= seq && (next === null || cut < Number(next));
      if (isShown && (only === undefined || only === day)) days.add(day);
    }
  }
}
