import { type RawBuilder, sql } from 'kysely';

/**
 * SQL for one UPDATE that gives each row its own value: `CASE seq WHEN 7 THEN … END`.
 * @param rows at least one; the UPDATE must be limited to their row numbers, or other rows become NULL.
 */
export function caseBySeq<Value, Row>(
  rows: Row[],
  seqOf: (row: Row) => number,
  toValue: (row: Row) => unknown,
): RawBuilder<Value> {
  const cases = rows.map((row) => sql`WHEN ${seqOf(row)} THEN ${toValue(row)}`);
  return sql<Value>`CASE seq ${sql.join(cases, sql` `)} END`;
}
