import { sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import { matchesPlatform } from '../../database/shared/matches-platform.ts';
import type { WallTime } from '../../domain/calendar.ts';
import { compareText } from '../../domain/lists.ts';
import { type CutEntries, matchesCut } from './read-cut-entries.ts';
import type { FactsAtCut } from './read-facts-at-cut.ts';

export type StatusCount = { operation: string; status: string; count: number; amountCents: bigint };

type Scope = { start: WallTime; end: WallTime; eventSeq: number; platform: string | undefined; factsAtCut: FactsAtCut };

/** Counts the transactions that reached each status in the day, by operation, with the sum of their amounts. */
export async function readStatusCounts(db: Reader, scope: Scope): Promise<StatusCount[]> {
  const { correctedTransactions: corrected } = scope.factsAtCut;
  const rows = await selectEvents(db, scope)
    .$if(corrected.length > 0, (query) => query.where('transactions.seq', 'not in', corrected))
    .select([
      'transactions.operation',
      'events.status',
      sql<number>`COUNT(*)`.as('count'),
      sql<string>`SUM(transactions.amount_cents)`.as('sum'),
    ])
    .groupBy(['transactions.operation', 'events.status'])
    .execute();
  const counts = rows.map((row) => ({ ...row, count: Number(row.count), amountCents: BigInt(row.sum) }));
  for (const row of await readCorrected(db, scope)) {
    counts.push({ ...row, count: 1, sum: '', amountCents: row.amount_cents });
  }
  return addUp(counts);
}

/** One row for each event of a transaction that changed after the cut, with the facts of the cut. */
async function readCorrected(db: Reader, scope: Scope) {
  const { correctedTransactions: corrected, restoreFacts } = scope.factsAtCut;
  if (corrected.length === 0) return [];
  const rows = await selectEvents(db, scope)
    .where('transactions.seq', 'in', corrected)
    .select(['transactions.seq', 'transactions.operation', 'transactions.amount_cents', 'events.status'])
    .execute();
  return await restoreFacts(rows, ['operation', 'amount_cents'], (row) => row.seq);
}

function selectEvents(db: Reader, { start, end, eventSeq, platform, factsAtCut }: Scope) {
  return db
    .selectFrom('events')
    .innerJoin('transactions', 'transactions.seq', 'events.transaction_seq')
    .where('events.at_wall', '>=', start)
    .where('events.at_wall', '<', end)
    .where('events.seq', '<=', eventSeq)
    .$if(factsAtCut.outOfForce.length > 0, (query) => query.where('events.seq', 'not in', factsAtCut.outOfForce))
    .$if(platform !== undefined, (query) => query.where(matchesPlatform('transactions.platform', platform ?? '')));
}

function addUp(counts: StatusCount[]): StatusCount[] {
  const sums = new Map<string, StatusCount>();
  for (const { operation, status, count, amountCents } of counts) {
    const key = `${operation} ${status}`;
    const sum = sums.get(key) ?? { operation, status, count: 0, amountCents: 0n };
    sums.set(key, { ...sum, count: sum.count + count, amountCents: sum.amountCents + amountCents });
  }
  return [...sums].sort(([a], [b]) => compareText(a, b)).map(([, sum]) => sum);
}

export type StatedOpening = { platform: string; day: string; balanceCents: bigint };

/** The opening balances in force at the cut, as people stated them. */
export async function readStatedOpenings(db: Reader, cut: CutEntries): Promise<StatedOpening[]> {
  const rows = await db
    .selectFrom('openings')
    .leftJoin('entries as reversal', (join) =>
      join.onRef('reversal.reverses_seq', '=', 'openings.entry_seq').on(matchesCut('reversal.seq', cut)),
    )
    .select(['openings.platform', 'openings.day', 'openings.balance_cents'])
    .where(matchesCut('openings.entry_seq', cut))
    .where('reversal.seq', 'is', null)
    .orderBy('openings.platform')
    .execute();
  return rows.map((row) => ({ platform: row.platform, day: row.day, balanceCents: row.balance_cents }));
}
