import { type RawBuilder, sql } from 'kysely';
import { OF_EXPECTED_PAYMENTS } from '../domain/mismatch.ts';

/** The columns that decide what is at stake. */
export type StakeColumns = Record<'kind' | 'amount_cents' | 'expected' | 'actual', RawBuilder<unknown>>;

/** Kinds whose evidence has amounts on both sides. */
const KINDS = [
  ...['amount_differs', 'commission_differs', 'commission_not_agreed', 'webhook_contradiction', 'balance_differs'],
  ...OF_EXPECTED_PAYMENTS,
];
/** Facts in evidence that are amounts of money and are compared. */
const COMPARED = ['amount', 'commission'] as const;

/** The columns of `mismatches`, as they are now. */
const NOW: StakeColumns = {
  kind: sql.ref('mismatches.kind'),
  amount_cents: sql.ref('mismatches.amount_cents'),
  expected: sql.ref('mismatches.expected'),
  actual: sql.ref('mismatches.actual'),
};

/**
 * The only rule for what is at stake in a mismatch, in cents: the difference where expected and actual are amounts, else the
 * amount of its transaction (NULL without one). A transaction whose operation changed is at stake as a whole. An unknown
 * commission counts as none.
 * @param columns of another source, such as a recorded change.
 */
export function stakeInSql(columns: StakeColumns = NOW): RawBuilder<bigint | null> {
  const { kind, amount_cents: whole } = columns;
  const field = (side: 'expected' | 'actual', name: string) =>
    sql`JSON_UNQUOTE(JSON_EXTRACT(${columns[side]}, ${sql.lit(`$.${name}`)}))`;
  // NULL where a side lacks the field; JSON null, of an unknown commission, is the text null
  const cents = (side: 'expected' | 'actual', name: string) =>
    sql`CAST(NULLIF(${field(side, name)}, 'null') AS DECIMAL(20, 2))`;
  const has = (side: 'expected' | 'actual', name: string) => sql`${field(side, name)} IS NOT NULL`;
  const differences = COMPARED.map(
    (name) => sql`WHEN ${has('expected', name)} AND ${has('actual', name)}
      THEN ABS(COALESCE(${cents('expected', name)}, 0) - COALESCE(${cents('actual', name)}, 0)) * 100`,
  );
  return sql<bigint | null>`CAST(CASE WHEN ${kind} NOT IN (${sql.join(KINDS)}) THEN ${whole}
    WHEN COALESCE(${field('expected', 'operation')}, '') <> COALESCE(${field('actual', 'operation')}, '') THEN ${whole}
    WHEN ${has('actual', 'difference')} THEN ABS(${cents('actual', 'difference')}) * 100
    ${sql.join(differences, sql` `)} ELSE ${whole} END AS SIGNED)`;
}

/** The sum at stake of the selected mismatches, in cents: select it as a column whose name ends with `_cents`. */
export function sumStakeInSql(): RawBuilder<bigint> {
  return sql<bigint>`CAST(COALESCE(SUM(${stakeInSql()}), 0) AS SIGNED)`;
}
