/** Lists and adds up the adjustments that people entered. */
import { sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import { containsText } from '../../database/shared/contains-text.ts';
import type { Day } from '../../domain/calendar.ts';
import { formatAmount } from '../../domain/money.ts';

/** `from` and `to` are days of the ledger, both included; `actor` entered them; `inside`: of the note; amounts are of either sign. */
type AdjustmentFilter = Partial<
  Record<'id' | 'platform' | 'actor' | 'kind' | 'inside', string | undefined> &
    Record<'from' | 'to', Day | undefined> &
    Record<'amount' | 'amount_from' | 'amount_to', bigint | undefined>
>;

function selectAdjustments(db: Reader, { id, platform, actor, from, to, kind, inside, ...amounts }: AdjustmentFilter) {
  const { amount, amount_from: least, amount_to: most } = amounts;
  const size = sql<bigint>`ABS(adjustments.amount_cents)`;
  let query = db.selectFrom('adjustments');
  if (kind !== undefined) query = query.where('adjustments.kind', '=', kind);
  if (inside !== undefined) query = query.where(containsText(sql.ref('adjustments.note'), inside));
  if (amount !== undefined) query = query.where(size, '=', amount);
  if (least !== undefined) query = query.where(size, '>=', least);
  if (most !== undefined) query = query.where(size, '<=', most);
  if (id !== undefined) query = query.where('adjustments.id', '=', id);
  if (platform !== undefined) query = query.where('adjustments.platform', '=', platform);
  if (actor !== undefined) query = query.where('adjustments.actor', '=', actor);
  if (from !== undefined) query = query.where('adjustments.day', '>=', from);
  if (to !== undefined) query = query.where('adjustments.day', '<=', to);
  return query;
}

/** Counts and adds up adjustments, those with a positive amount and the others; a reversal counts as itself. */
export async function sumAdjustments(
  db: Reader,
  filter: AdjustmentFilter,
): Promise<{ count: number; inCents: bigint; outCents: bigint }> {
  const sum = (of: 'GREATEST' | 'LEAST') => sql<string>`COALESCE(SUM(${sql.raw(of)}(adjustments.amount_cents, 0)), 0)`;
  const found = await selectAdjustments(db, filter)
    .select(({ fn }) => [
      fn.countAll<number>().as('count'),
      sum('GREATEST').as('in_cents'),
      sum('LEAST').as('out_cents'),
    ])
    .executeTakeFirstOrThrow();
  return { count: Number(found.count), inCents: BigInt(found.in_cents), outCents: BigInt(found.out_cents) };
}

/** Lists adjustments as the API shows them, newest first. @param before list below this row number. */
export async function listAdjustments(
  db: Reader,
  limit: number,
  before: number | undefined,
  filter: AdjustmentFilter = {},
) {
  let query = selectAdjustments(db, filter)
    .leftJoin('adjustments as reversed', 'reversed.seq', 'adjustments.reverses_seq')
    .leftJoin('adjustments as reversal', 'reversal.reverses_seq', 'adjustments.seq')
    .selectAll('adjustments')
    .select(['reversed.id as reverses', 'reversal.id as reversed_by'])
    .orderBy('adjustments.seq', 'desc')
    .limit(limit);
  if (before !== undefined) query = query.where('adjustments.seq', '<', before);
  return (await query.execute()).map((row) => ({
    seq: row.seq,
    id: row.id,
    platform: row.platform,
    day: row.day,
    kind: row.kind,
    amount: formatAmount(row.amount_cents),
    note: row.note,
    bank_account: row.bank_account,
    reverses: row.reverses,
    reversed_by: row.reversed_by,
    created_at: row.created_at.toISOString(),
    created_by: row.actor,
  }));
}
