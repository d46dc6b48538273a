import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { inForce } from '../database/shared/in-force.ts';
import { type Calendar, DAY_MAX, DAY_MIN, type Day } from '../domain/calendar.ts';
import { IS_OF_ORDER } from './concerns-platform.ts';

/** The first and the last day that are asked for; each may be left open. */
export type DayRange = { from?: Day | undefined; to?: Day | undefined };

/**
 * The day that a row of `mismatches` concerns: of the first payment of its transaction, as the sheets take it, else of its creation;
 * of an order's payment, else of its due date; the day that its scope names; the last day before a stated balance. NULL: the day on
 * which it was opened.
 * @param eventSeq the newest event to consider.
 */
export function concernedDay(eventSeq = Number.MAX_SAFE_INTEGER): RawBuilder<Day | null> {
  return sql<Day | null>`CASE
  WHEN mismatches.transaction_seq IS NOT NULL THEN
    (SELECT SUBSTR(COALESCE(MIN(p.at_wall), MIN(t.created_wall)), 1, 10) FROM transactions t
      LEFT JOIN events p ON p.transaction_seq = t.seq AND p.status = 'paid' AND p.seq <= ${eventSeq} AND ${inForce('p')} = 1
      WHERE t.seq = mismatches.transaction_seq)
  WHEN ${IS_OF_ORDER} THEN
    (SELECT COALESCE(e.paid_day, e.due_day) FROM expected_payments e WHERE e.id = mismatches.scope)
  WHEN mismatches.kind IN ('closed_day_changed', 'list_unstable', 'commission_not_agreed') THEN SUBSTR(mismatches.scope, 1, 10)
  WHEN mismatches.kind = 'balance_differs' THEN
    DATE_FORMAT(DATE_SUB(REPLACE(SUBSTR(JSON_UNQUOTE(JSON_EXTRACT(mismatches.expected, '$.at')), 1, 19), 'T', ' '), INTERVAL 1 SECOND), '%Y-%m-%d')
  END`;
}

/** The condition that a row of `mismatches` concerns a day of a range. */
export function concernsDays(calendar: Calendar, { from = DAY_MIN, to = DAY_MAX }: DayRange): RawBuilder<SqlBool> {
  const [start, end] = [calendar.startOfDay(from), calendar.endOfDay(to)];
  return sql<SqlBool>`COALESCE(${concernedDay()} BETWEEN ${from} AND ${to},
    mismatches.opened_at >= ${start} AND mismatches.opened_at < ${end})`;
}
