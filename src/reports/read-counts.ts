import { sql } from 'kysely';

import { inForce } from '../database/in-force.ts';
import type { Reader } from '../database/reader.ts';
import type { Wall } from '../domain/calendar.ts';

export type StatusCount = { operation: string; status: string; count: number; amountCents: bigint };

/** How many transactions came to each status in the day, by operation, and what they amount to. */
export async function readStatusCounts(
  db: Reader,
  scope: { start: Wall; end: Wall; eventSeq: number; platform: string | undefined },
): Promise<StatusCount[]> {
  const rows = await db
    .selectFrom('events')
    .innerJoin('transactions', 'transactions.seq', 'events.transaction_seq')
    .select([
      'transactions.operation',
      'events.status',
      sql<number>`COUNT(*)`.as('count'),
      sql<string>`SUM(transactions.amount_cents)`.as('sum'),
    ])
    .where('events.at_wall', '>=', scope.start)
    .where('events.at_wall', '<', scope.end)
    .where('events.seq', '<=', scope.eventSeq)
    .where(inForce('events'), '=', 1)
    .$if(scope.platform !== undefined, (query) => query.where('transactions.platform', '=', scope.platform ?? ''))
    .groupBy(['transactions.operation', 'events.status'])
    .orderBy('transactions.operation')
    .orderBy('events.status')
    .execute();
  return rows.map((row) => ({
    operation: row.operation,
    status: row.status,
    count: Number(row.count),
    amountCents: BigInt(row.sum),
  }));
}

export type StatedOpening = { platform: string; day: string; balanceCents: bigint };

/** The opening balances that people stated, as they stood at the cut. */
export async function readStatedOpenings(db: Reader, entrySeq: number): Promise<StatedOpening[]> {
  const rows = await db
    .selectFrom('openings')
    .leftJoin('entries as reversal', (join) =>
      join.onRef('reversal.reverses_seq', '=', 'openings.entry_seq').on('reversal.seq', '<=', entrySeq),
    )
    .select(['openings.platform', 'openings.day', 'openings.balance_cents'])
    .where('openings.entry_seq', '<=', entrySeq)
    .where('reversal.seq', 'is', null)
    .orderBy('openings.platform')
    .execute();
  return rows.map((row) => ({ platform: row.platform, day: row.day, balanceCents: row.balance_cents }));
}
