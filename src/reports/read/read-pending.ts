import { sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import { matchesPlatform } from '../../database/shared/matches-platform.ts';
import type { WallTime } from '../../domain/calendar.ts';
import { splitList } from '../../domain/lists.ts';
import { NO_PLATFORM } from '../../domain/platform.ts';
import type { Cut } from '../plan/report-plan.ts';
import { orderHistories } from './order-histories.ts';
import { HELD } from './read-accounts.ts';
import { type CutEntries, matchesCut } from './read-cut-entries.ts';
import type { FactsAtCut } from './read-facts-at-cut.ts';

/** A transaction that was open at the day's end. */
export type PendingTransaction = {
  transactionSeq: number;
  id: string;
  operation: string;
  status: string;
  sinceWall: WallTime;
  createdWall: WallTime;
  reference: string | null;
  platform: string;
  name: string | null;
  document: string | null;
  /** The person was erased. */
  forgotten: boolean;
  amountCents: bigint;
  /** Its part of the held balance: the amount of a cashout, unless its history breaks the rules. */
  heldCents: bigint;
};

export type PendingScope = CutEntries & {
  start: WallTime;
  end: WallTime;
  cut: Cut;
  platform: string | undefined;
  factsAtCut: FactsAtCut;
};

const CHUNK_ROWS = 1_000;
const FACTS = ['reference', 'platform', 'operation', 'amount_cents'] as const;
export const FINAL_STATUSES = ['paid', 'denied', 'canceled', 'expired', 'refund'];

/** Every cashout open at the day's end and the open cashins created that day, in the order of first observation. */
export async function* readPending(
  db: Reader,
  scope: PendingScope,
): AsyncGenerator<PendingTransaction[], void, undefined> {
  yield* readPendingBySeqs(db, scope, await listCandidates(db, scope));
}

/** The candidates, given by number, that were open at the day's end. */
export async function* readPendingBySeqs(
  db: Reader,
  scope: PendingScope,
  candidates: number[],
): AsyncGenerator<PendingTransaction[], void, undefined> {
  for (const seqs of splitList(candidates, CHUNK_ROWS)) {
    const held = await readHeld(db, scope, seqs);
    const rows = await scope.factsAtCut.restoreFacts(await readChunk(db, scope, seqs), FACTS, (row) => row.seq);
    const pending = rows.flatMap((row) => toPending(row, held.get(row.seq) ?? 0n, scope));
    if (pending.length > 0) yield pending;
  }
}

/**
 * Transactions that may have been open at the day's end: open now, with a status newer than the day, or with an event
 * learnt after the cut. Each condition is a query with an index of its own. One query with OR read every transaction, and
 * a search for the day's cashins by status read those of all later days.
 */
async function listCandidates(db: Reader, scope: PendingScope): Promise<number[]> {
  const cashins = () => selectSeqs(db, scope, 'cashin').where('transactions.created_wall', '>=', scope.start);
  const cashouts = () => selectSeqs(db, scope, 'cashout');
  // a corrected transaction may have been open then in any present status
  const { correctedTransactions } = scope.factsAtCut;
  const seqs = new Set(await filterByPlatform(db, correctedTransactions, scope.platform));
  for (const select of [cashins, cashouts]) {
    const rows = [
      ...(await select().where('transactions.status', 'not in', FINAL_STATUSES).execute()),
      ...(await select().where('transactions.status_wall', '>=', scope.end).execute()),
      ...(await select()
        .innerJoin('events', 'events.transaction_seq', 'transactions.seq')
        .where('events.seq', '>', scope.cut.eventSeq)
        .execute()),
    ];
    for (const row of rows) seqs.add(row.seq);
  }
  return [...seqs].sort((a, b) => a - b);
}

/** The given transactions of one platform; all of them for `undefined`. */
export async function filterByPlatform(db: Reader, seqs: number[], platform: string | undefined): Promise<number[]> {
  if (platform === undefined || seqs.length === 0) return seqs;
  const rows = await db
    .selectFrom('transactions')
    .select('seq')
    .where('seq', 'in', seqs)
    .where(matchesPlatform('platform', platform))
    .execute();
  return rows.map((row) => row.seq);
}

function selectSeqs(db: Reader, scope: PendingScope, operation: string) {
  return db
    .selectFrom('transactions')
    .select('transactions.seq')
    .where('transactions.operation', '=', operation)
    .where('transactions.created_wall', '<', scope.end)
    .$if(scope.platform !== undefined, (query) =>
      query.where(matchesPlatform('transactions.platform', scope.platform ?? '')),
    );
}

/** The rows with their last status of the day, by the history up to the cut. */
async function readChunk(db: Reader, scope: PendingScope, seqs: number[]) {
  const last = await readLastEvents(db, scope, seqs);
  const rows = await db
    .selectFrom('transactions')
    .leftJoin('parties', 'parties.transaction_seq', 'transactions.seq')
    .select(['transactions.seq', 'transactions.id', 'transactions.operation', 'transactions.created_wall'])
    .select(['transactions.reference', 'transactions.platform', 'transactions.amount_cents'])
    .select(['parties.name', 'parties.document', 'parties.forgotten_at'])
    .where('transactions.seq', 'in', seqs)
    .orderBy('transactions.seq')
    .execute();
  return rows.map((row) => ({ ...row, last: last.get(row.seq) }));
}

/** The newest event of each history that is dated before the day's end. */
export async function readLastEvents(
  db: Reader,
  { cut, end, factsAtCut }: Pick<PendingScope, 'cut' | 'end' | 'factsAtCut'>,
  seqs: number[],
) {
  const struck = new Set(factsAtCut.outOfForce);
  const events = await db
    .selectFrom('events')
    .select(['seq', 'transaction_seq', 'status', 'at_wall', 'position', 'sequence', 'inferred'])
    .where('transaction_seq', 'in', seqs)
    .where('at_wall', '<', end)
    .where('seq', '<=', cut.eventSeq)
    .execute();
  const inForce = events.filter((event) => !struck.has(event.seq));
  const histories = await orderHistories(db, inForce, cut.factChangeSeq);
  return new Map([...histories].map(([seq, history]) => [seq, history.at(-1)]));
}

async function readHeld(db: Reader, scope: PendingScope, seqs: number[]): Promise<Map<number, bigint>> {
  const rows = await db
    .selectFrom('entries')
    .innerJoin('postings', 'postings.entry_seq', 'entries.seq')
    .innerJoin('accounts', 'accounts.seq', 'postings.account_seq')
    .select(['entries.transaction_seq', sql<string>`SUM(postings.amount_cents)`.as('sum')])
    .where('entries.transaction_seq', 'in', seqs)
    .where('entries.at_wall', '<', scope.end)
    .where(matchesCut('entries.seq', scope))
    .where('accounts.name', 'like', `${HELD}:%`)
    .groupBy('entries.transaction_seq')
    .execute();
  return new Map(rows.map((row) => [row.transaction_seq ?? 0, BigInt(row.sum)]));
}

type Row = Awaited<ReturnType<typeof readChunk>>[number];

function toPending(row: Row, heldCents: bigint, { start, end }: PendingScope): PendingTransaction[] {
  const { last, id, operation, created_wall: createdWall, reference, name, document } = row;
  const isOfDay = createdWall < end && (operation === 'cashout' || createdWall >= start);
  if (!last || FINAL_STATUSES.includes(last.status) || !isOfDay) return [];
  return [
    {
      ...{ id, operation, createdWall, reference, name, document, heldCents },
      transactionSeq: row.seq,
      status: last.status,
      sinceWall: last.at_wall,
      platform: row.platform ?? NO_PLATFORM,
      forgotten: row.forgotten_at !== null,
      amountCents: row.amount_cents,
    },
  ];
}
