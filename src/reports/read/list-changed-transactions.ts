/** Which transactions are to be told of in Alterações: those by which a day's rows differ from those of the cut before. */
import { type SqlBool, sql } from 'kysely';
import { matchesPlatform } from '../../database/matches-platform.ts';
import type { Reader } from '../../database/reader.ts';
import type { ChangeScope } from './change-scope.ts';
import { matchesCut } from './read-cut-entries.ts';
import { DIGESTED_FACTS } from './read-facts-at-cut.ts';
import { FINAL_STATUSES, type PendingTransaction, readPendingBySeqs } from './read-pending.ts';

const CHUNK_ROWS = 1_000;

/**
 * What happened in the day, what was corrected of it, and what changed earlier and was left open at the day's end.
 * @returns numbers, ascending.
 */
export async function listChangedTransactions(db: Reader, scope: ChangeScope): Promise<number[]> {
  const seqs = new Set([...(await listMoved(db, scope)), ...(await listCorrected(db, scope))]);
  const candidates = (await listTouchedBefore(db, scope)).filter((seq) => !seqs.has(seq));
  for (let start = 0; start < candidates.length; start += CHUNK_ROWS) {
    const some = candidates.slice(start, start + CHUNK_ROWS);
    for (const seq of await comparePending(db, scope, some)) seqs.add(seq);
  }
  return [...seqs].sort((a, b) => a - b);
}

/** What the later cut holds and the one before does not. */
export function matchesNewEntries({ from, to }: ChangeScope) {
  return sql<SqlBool>`${matchesCut('entries.seq', to)} AND NOT ${matchesCut('entries.seq', from)}`;
}

/** Those with an entry or an event in the day that is new. */
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
        .where((eb) => {
          const late = scope.factsAtPreviousCut.lateEvents;
          const above = eb('events.seq', '>', scope.from.eventSeq);
          return late.length === 0 ? above : eb.or([above, eb('events.seq', 'in', late)]);
        })
        .where('events.seq', '<=', scope.to.eventSeq)
        .$if(scope.platform !== undefined, (query) =>
          query.where(matchesPlatform('transactions.platform', scope.platform ?? '')),
        ),
    )
    .execute();
  return rows.flatMap((row) => (row.seq === null ? [] : [row.seq]));
}

/** Those of which a fact is another one now, created in the day or with a movement in it. */
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

function selectCorrected(db: Reader, { from, to, end, platform }: ChangeScope) {
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

/** Those with something new before the day that may be open at its end, or may have been by what was known before. */
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
  // what came late below the cut before, or was corrected since
  return [...new Set([...seqs, ...scope.factsAtPreviousCut.correctedTransactions])];
}

/** A transaction that was all unknown before and is over by the day's end was open at neither cut: most of a backfill. */
function mayBeOpen({ start, end, from, to }: ChangeScope) {
  const heldNow = sql`transactions.status NOT IN (${sql.join(FINAL_STATUSES)}) OR transactions.status_wall >= ${end}
    OR EXISTS (SELECT 1 FROM events e WHERE e.transaction_seq = transactions.seq AND e.seq > ${to.eventSeq})`;
  const knownBefore = sql`EXISTS (SELECT 1 FROM events e WHERE e.transaction_seq = transactions.seq AND e.seq <= ${from.eventSeq})`;
  return sql<SqlBool>`(transactions.operation = 'cashout' OR transactions.created_wall >= ${start})
    AND (${heldNow} OR ${knownBefore})`;
}

/** Those of some transactions whose row of Pendentes is another one than at the cut before. */
async function comparePending(db: Reader, scope: ChangeScope, seqs: number[]): Promise<number[]> {
  const { start, end, platform } = scope;
  const read = async (cut: ChangeScope['from'], known: ChangeScope['factsAtCut']): Promise<Map<number, string>> => {
    const pending = new Map<number, string>();
    const of = { start, end, platform, cut, factsAtCut: known, entrySeq: cut.entrySeq, lateEntries: cut.lateEntries };
    for await (const rows of readPendingBySeqs(db, of, seqs)) {
      for (const row of rows) pending.set(row.transactionSeq, tellRow(row));
    }
    return pending;
  };
  const before = await read(scope.from, scope.factsAtPreviousCut);
  const after = await read(scope.to, scope.factsAtCut);
  const wanted = platform === undefined ? seqs : await keepPlatform(db, seqs, platform);
  return wanted.filter((seq) => before.get(seq) !== after.get(seq));
}

/** What of it stands in the digest of a day. */
function tellRow({ operation, status, sinceWall, platform, amountCents, heldCents }: PendingTransaction): string {
  return JSON.stringify([operation, status, sinceWall, platform, String(amountCents), String(heldCents)]);
}

async function keepPlatform(db: Reader, seqs: number[], platform: string): Promise<number[]> {
  const rows = await db
    .selectFrom('transactions')
    .select('seq')
    .where('seq', 'in', seqs)
    .where(matchesPlatform('platform', platform))
    .execute();
  return rows.map((row) => row.seq);
}
