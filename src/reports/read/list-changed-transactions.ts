/** Lists the transactions with a row in Alterações: those whose rows of a day differ between two cuts. */
import { type SqlBool, sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import { matchesPlatform } from '../../database/shared/matches-platform.ts';
import type { WallTime } from '../../domain/calendar.ts';
import { splitList } from '../../domain/lists.ts';
import type { Cut } from '../plan/report-plan.ts';
import { type CutEntries, matchesCut } from './read-cut-entries.ts';
import { DIGESTED_FACTS, type FactsAtCut } from './read-facts-at-cut.ts';
import { FINAL_STATUSES, filterByPlatform, type PendingTransaction, readPendingBySeqs } from './read-pending.ts';

/** The day and the two cuts to compare, for one platform or all. */
export type ChangeScope = {
  start: WallTime;
  end: WallTime;
  from: Cut & CutEntries;
  to: Cut & CutEntries;
  platform: string | undefined;
  /** At the later cut. */
  factsAtCut: FactsAtCut;
  factsAtPreviousCut: FactsAtCut;
};

const CHUNK_ROWS = 1_000;

/**
 * Transactions with news in the day, corrected ones of the day, and those of earlier days whose row of Pendentes changed.
 * @returns their numbers, ascending.
 */
export async function listChangedTransactions(db: Reader, scope: ChangeScope): Promise<number[]> {
  const seqs = new Set(await listMovedTransactions(db, scope));
  const candidates = (await listTouchedBefore(db, scope)).filter((seq) => !seqs.has(seq));
  for (const some of splitList(candidates, CHUNK_ROWS)) {
    for (const seq of await comparePending(db, scope, some)) seqs.add(seq);
  }
  return [...seqs].sort((a, b) => a - b);
}

/** Lists them without those of Pendentes. */
export async function listMovedTransactions(db: Reader, scope: ChangeScope): Promise<number[]> {
  const seqs = new Set([...(await listMoved(db, scope)), ...(await listCorrected(db, scope))]);
  return [...seqs].sort((a, b) => a - b);
}

/** The condition that only the later cut holds an entry. */
export function matchesNewEntries({ from, to }: { from: CutEntries; to: CutEntries }) {
  return sql<SqlBool>`${matchesCut('entries.seq', to)} AND NOT ${matchesCut('entries.seq', from)}`;
}

/** The condition that only the later cut holds an event. */
export function matchesNewEvents({
  from,
  to,
  ...facts
}: Pick<ChangeScope, 'from' | 'to' | 'factsAtCut' | 'factsAtPreviousCut'>) {
  const { lateEvents: lateBefore } = facts.factsAtPreviousCut;
  const { lateEvents: late } = facts.factsAtCut;
  const above = sql<SqlBool>`events.seq > ${from.eventSeq}`;
  const isNew = lateBefore.length === 0 ? above : sql`(${above} OR events.seq IN (${sql.join(lateBefore)}))`;
  const isLate = late.length === 0 ? sql`` : sql`AND events.seq NOT IN (${sql.join(late)})`;
  return sql<SqlBool>`${isNew} AND events.seq <= ${to.eventSeq} ${isLate}`;
}

/** Transactions with a new entry or event in the day. */
async function listMoved(db: Reader, scope: ChangeScope): Promise<number[]> {
  const rows = await db
    .selectFrom('entries')
    .select('entries.transaction_seq as seq')
    .where('at_wall', '>=', scope.start)
    .where('at_wall', '<', scope.end)
    .where(matchesNewEntries(scope))
    .where('transaction_seq', 'is not', null)
    .$if(scope.platform !== undefined, (query) => query.where('platform', '=', scope.platform ?? ''))
    .union(
      db
        .selectFrom('events')
        .innerJoin('transactions', 'transactions.seq', 'events.transaction_seq')
        .select('events.transaction_seq as seq')
        .where('events.at_wall', '>=', scope.start)
        .where('events.at_wall', '<', scope.end)
        .where(matchesNewEvents(scope))
        .$if(scope.platform !== undefined, (query) =>
          query.where(matchesPlatform('transactions.platform', scope.platform ?? '')),
        ),
    )
    .execute();
  return rows.flatMap((row) => (row.seq === null ? [] : [row.seq]));
}

/** Transactions with a changed fact that were created in the day, or have a movement in it. */
async function listCorrected(db: Reader, scope: ChangeScope): Promise<number[]> {
  const rows = await selectCorrected(db, scope)
    .where((eb) =>
      eb.or([
        eb('transactions.created_wall', '>=', scope.start),
        eb.exists(
          eb
            .selectFrom('entries')
            .select('entries.seq')
            .whereRef('entries.transaction_seq', '=', 'transactions.seq')
            .where('entries.at_wall', '>=', scope.start)
            .where('entries.at_wall', '<', scope.end),
        ),
      ]),
    )
    .execute();
  return rows.map((row) => row.seq);
}

export function selectCorrected(db: Reader, { from, to, end, platform }: Omit<ChangeScope, 'start'>) {
  return db
    .selectFrom('fact_changes')
    .innerJoin('transactions', 'transactions.seq', 'fact_changes.transaction_seq')
    .select('transactions.seq')
    .distinct()
    .where('fact_changes.seq', '>', from.factChangeSeq)
    .where('fact_changes.seq', '<=', to.factChangeSeq)
    .where('fact_changes.name', 'in', DIGESTED_FACTS)
    .where('transactions.created_wall', '<', end)
    .$if(platform !== undefined, (query) => query.where(matchesPlatform('transactions.platform', platform ?? '')));
}

/** Transactions with news before the day that may be open at its end, by either cut. */
async function listTouchedBefore(db: Reader, scope: ChangeScope): Promise<number[]> {
  const events = await db
    .selectFrom('events')
    .innerJoin('transactions', 'transactions.seq', 'events.transaction_seq')
    .select('transactions.seq')
    .distinct()
    .where('events.seq', '>', scope.from.eventSeq)
    .where('events.seq', '<=', scope.to.eventSeq)
    .where('events.at_wall', '<', scope.start)
    .where(mayBeOpen(scope))
    .execute();
  const entries = await db
    .selectFrom('entries')
    .innerJoin('transactions', 'transactions.seq', 'entries.transaction_seq')
    .select('transactions.seq')
    .distinct()
    .where(matchesNewEntries(scope))
    .where('entries.at_wall', '<', scope.start)
    .where(mayBeOpen(scope))
    .execute();
  const corrected = await selectCorrected(db, scope).execute();
  const seqs = [...events, ...entries, ...corrected].map((row) => row.seq);
  // late below the cut before, or corrected since
  return [...new Set([...seqs, ...scope.factsAtPreviousCut.correctedTransactions])];
}

/** Excludes transactions that were open at neither cut: unknown before and final by the day's end, as most of a backfill. */
function mayBeOpen({ start, end, from, to }: ChangeScope) {
  const heldNow = sql`transactions.status NOT IN (${sql.join(FINAL_STATUSES)}) OR transactions.status_wall >= ${end}
    OR EXISTS (SELECT 1 FROM events e WHERE e.transaction_seq = transactions.seq AND e.seq > ${to.eventSeq})`;
  const knownBefore = sql`EXISTS (SELECT 1 FROM events e WHERE e.transaction_seq = transactions.seq AND e.seq <= ${from.eventSeq})`;
  return sql<SqlBool>`(transactions.operation = 'cashout' OR transactions.created_wall >= ${start})
    AND (${heldNow} OR ${knownBefore})`;
}

/** The given transactions whose row of Pendentes differs between the cuts. */
async function comparePending(db: Reader, scope: ChangeScope, seqs: number[]): Promise<number[]> {
  const { start, end, platform } = scope;
  const read = async (cut: ChangeScope['from'], factsAtCut: FactsAtCut): Promise<Map<number, string>> => {
    const pending = new Map<number, string>();
    const { entrySeq, lateEntries } = cut;
    const at = { start, end, platform, cut, factsAtCut, entrySeq, lateEntries };
    for await (const rows of readPendingBySeqs(db, at, seqs)) {
      for (const row of rows) pending.set(row.transactionSeq, serializeRow(row));
    }
    return pending;
  };
  const before = await read(scope.from, scope.factsAtPreviousCut);
  const after = await read(scope.to, scope.factsAtCut);
  const wanted = await filterByPlatform(db, seqs, platform);
  return wanted.filter((seq) => before.get(seq) !== after.get(seq));
}

/** The fields of a row that the digest of a day holds. */
function serializeRow({ operation, status, sinceWall, platform, amountCents, heldCents }: PendingTransaction): string {
  return JSON.stringify([operation, status, sinceWall, platform, String(amountCents), String(heldCents)]);
}
