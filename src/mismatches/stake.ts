import { type RawBuilder, sql } from 'kysely';
import { parseSum } from '../domain/money.ts';

type Evidence = { kind: string; amount: string | null; expected: unknown; actual: unknown };
/** Kinds whose evidence has amounts on both sides. */
const KINDS = ['amount_differs', 'commission_differs', 'webhook_contradiction', 'balance_differs'];
/** Facts in evidence that are amounts of money and are compared. */
const COMPARED = ['amount', 'commission'] as const;

/**
 * Returns what a mismatch is about in cents: the difference where expected and actual are amounts, else the amount of its
 * transaction. A transaction whose operation changed is at stake as a whole. An unknown commission counts as none.
 */
export function stakeOf({ kind, amount, expected, actual }: Evidence): bigint | undefined {
  const [before, after] = [toFields(expected), toFields(actual)];
  const whole = amount === null ? undefined : parseSum(amount);
  if (!KINDS.includes(kind) || before.operation !== after.operation) return whole;
  const stated = parseSum(String(after.difference));
  if (stated !== undefined) return magnitude(stated);
  const name = COMPARED.find((one) => one in before && one in after);
  if (name === undefined) return whole;
  const [one, other] = [before[name], after[name]].map((value) =>
    value === null ? 0n : typeof value === 'string' ? parseSum(value) : undefined,
  );
  return one === undefined || other === undefined ? whole : magnitude(one - other);
}

function toFields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

const magnitude = (cents: bigint): bigint => (cents < 0n ? -cents : cents);

/** The same in SQL, over the columns of `mismatches`. */
export function stakeInSql(): RawBuilder<bigint> {
  const field = (column: 'expected' | 'actual', name: string) =>
    sql`JSON_UNQUOTE(JSON_EXTRACT(${sql.ref(column)}, ${sql.lit(`$.${name}`)}))`;
  // NULL where a side lacks the field; JSON null, of an unknown commission, is the text null
  const cents = (column: 'expected' | 'actual', name: string) =>
    sql`CAST(NULLIF(${field(column, name)}, 'null') AS DECIMAL(20, 2))`;
  const has = (column: 'expected' | 'actual', name: string) => sql`${field(column, name)} IS NOT NULL`;
  const differences = COMPARED.map(
    (name) => sql`WHEN ${has('expected', name)} AND ${has('actual', name)}
      THEN ABS(COALESCE(${cents('expected', name)}, 0) - COALESCE(${cents('actual', name)}, 0)) * 100`,
  );
  return sql<bigint>`CASE WHEN kind NOT IN (${sql.join(KINDS)}) THEN amount_cents
    WHEN COALESCE(${field('expected', 'operation')}, '') <> COALESCE(${field('actual', 'operation')}, '') THEN amount_cents
    WHEN ${has('actual', 'difference')} THEN ABS(${cents('actual', 'difference')}) * 100
    ${sql.join(differences, sql` `)} ELSE amount_cents END`;
}
