import { type SqlBool, sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import type { WallTime } from '../../domain/calendar.ts';
import { groupValues } from '../../domain/lists.ts';
import { classifyMovement, type Effect, type MovementPosting } from './classify-movement.ts';
import { type CutEntries, matchesCut } from './read-cut-entries.ts';
import type { FactsAtCut } from './read-facts-at-cut.ts';

/** One entry of the ledger, in the terms of accounting. */
export type Movement = Effect & {
  atWall: WallTime;
  isReversal: boolean;
  /** Neither a reversal nor reversed. */
  inForce: boolean;
  entrySeq: number;
  eventSeq: number | null;
  platform: string;
  transactionSeq: number | null;
  transactionId: string | null;
  status: string | null;
  createdWall: WallTime | null;
  reference: string | null;
  extra: string | null;
  e2eId: string | null;
  name: string | null;
  document: string | null;
  /** The person was erased. */
  forgotten: boolean;
  adjustment: EnteredAdjustment | null;
  recordedAt: Date;
  source: string;
  postings: MovementPosting[];
};

/** An adjustment of a movement. The note is null where it is withheld; `by` is the actor, and in files how this reader knows it. */
export type EnteredAdjustment = { kind: string; note: string | null; by: string };

export type MovementScope = {
  start: WallTime;
  end: WallTime;
  platform: string | undefined;
  /** Leaves out the entries of an earlier cut. */
  known?: CutEntries;
} & CutEntries;
type Sources = { accounts: Map<number, string>; factsAtCut: FactsAtCut };

/** Rows of one query; memory holds two chunks at most. */
const CHUNK_ROWS = 250;
/** Without the platform: a movement has its entry's. */
const FACTS = ['reference', 'extra', 'e2e_id'] as const;

/**
 * Reads the entries of the cut from `start` to before `end`, in order of time, in chunks. The next chunk is read while the
 * caller uses one.
 */
export async function* readMovements(
  db: Reader,
  scope: MovementScope,
  factsAtCut: FactsAtCut,
): AsyncGenerator<Movement[], void, undefined> {
  const accounts = new Map(
    (await db.selectFrom('accounts').select(['seq', 'name']).execute()).map((row) => [row.seq, row.name]),
  );
  const sources = { accounts, factsAtCut };
  let next = readStep(db, scope, { atWall: scope.start, seq: 0 }, sources);
  for (;;) {
    const { movements, after } = await next;
    if (after) {
      next = readStep(db, scope, after, sources);
      // the await above throws a failure; a caller that stopped early ignores it
      next.catch(() => undefined);
    }
    if (movements.length > 0) yield movements;
    if (!after) return;
  }
}

type Position = { atWall: WallTime; seq: number };

async function readStep(db: Reader, scope: MovementScope, from: Position, { accounts, factsAtCut }: Sources) {
  const rows = await factsAtCut.restoreFacts(await readChunk(db, scope, from), FACTS, (row) => row.transaction_seq);
  const last = rows.at(-1);
  if (!last) return { movements: [], after: undefined };
  const postings = await readPostings(
    db,
    rows.map((row) => row.seq),
    accounts,
  );
  return {
    movements: rows.map((row) => toMovement(row, postings.get(row.seq) ?? [])),
    after: rows.length < CHUNK_ROWS ? undefined : { atWall: last.at_wall, seq: last.seq },
  };
}

async function readChunk(db: Reader, scope: MovementScope, after: Position) {
  return await db
    .selectFrom('entries')
    .leftJoin('entries as reversal', (join) =>
      join.onRef('reversal.reverses_seq', '=', 'entries.seq').on(matchesCut('reversal.seq', scope)),
    )
    .leftJoin('entries as origin', 'origin.seq', 'entries.reverses_seq')
    .leftJoin('events', 'events.seq', 'entries.event_seq')
    .leftJoin('transactions', 'transactions.seq', 'entries.transaction_seq')
    .leftJoin('parties', 'parties.transaction_seq', 'entries.transaction_seq')
    .leftJoin('adjustments', 'adjustments.entry_seq', 'entries.seq')
    .select(['entries.seq', 'entries.transaction_seq', 'entries.event_seq', 'entries.platform', 'entries.at_wall'])
    .select(['entries.reverses_seq', 'entries.recorded_at', 'entries.source_kind', 'reversal.seq as reversed_by'])
    .select([sql<string>`COALESCE(origin.kind, entries.kind)`.as('kind'), 'events.status', 'transactions.id'])
    .select(['transactions.created_wall', 'transactions.reference', 'transactions.extra', 'transactions.e2e_id'])
    .select(['parties.name', 'parties.document', 'parties.forgotten_at'])
    .select(['adjustments.kind as adjustment_kind', 'adjustments.note', 'adjustments.actor'])
    // this half of the condition lets the index start where the last chunk ended
    .where('entries.at_wall', '>=', after.atWall)
    .where('entries.at_wall', '<', scope.end)
    .where((eb) =>
      eb.or([
        eb('entries.at_wall', '>', after.atWall),
        eb.and([eb('entries.at_wall', '=', after.atWall), eb('entries.seq', '>', after.seq)]),
      ]),
    )
    .where(matchesCut('entries.seq', scope))
    .$if(scope.known !== undefined, (query) =>
      query.where(sql<SqlBool>`NOT ${matchesCut('entries.seq', scope.known ?? scope)}`),
    )
    .$if(scope.platform !== undefined, (query) => query.where('entries.platform', '=', scope.platform ?? ''))
    .orderBy('entries.at_wall')
    .orderBy('entries.seq')
    .limit(CHUNK_ROWS)
    .execute();
}

async function readPostings(
  db: Reader,
  seqs: number[],
  accounts: Map<number, string>,
): Promise<Map<number, MovementPosting[]>> {
  const rows = await db
    .selectFrom('postings')
    .select(['entry_seq', 'account_seq', 'amount_cents'])
    .where('entry_seq', 'in', seqs)
    .orderBy('entry_seq')
    .orderBy('position')
    .execute();
  return groupValues(
    rows,
    (row) => row.entry_seq,
    ({ account_seq: seq, amount_cents: cents }) => ({ account: accounts.get(seq) ?? 'unknown', cents }),
  );
}

type Row = Awaited<ReturnType<typeof readChunk>>[number];

function toMovement(row: Row, postings: MovementPosting[]): Movement {
  const { platform, status, reference, extra, name, document } = row;
  const isReversal = row.reverses_seq !== null;
  return {
    ...classifyMovement({ kind: row.kind, isReversal, eventStatus: status, postings }),
    ...{ platform, status, reference, extra, name, document, isReversal, postings },
    atWall: row.at_wall,
    inForce: !isReversal && row.reversed_by === null,
    entrySeq: row.seq,
    eventSeq: row.event_seq,
    transactionSeq: row.transaction_seq,
    transactionId: row.id,
    createdWall: row.created_wall,
    e2eId: row.e2e_id,
    forgotten: row.forgotten_at !== null,
    adjustment: toAdjustment(row),
    recordedAt: row.recorded_at,
    source: row.source_kind,
  };
}

/** @param row of a left join with `adjustments`. */
export function toAdjustment(row: {
  adjustment_kind: string | null;
  note: string | null;
  actor: string | null;
}): EnteredAdjustment | null {
  const { adjustment_kind: kind, note, actor } = row;
  return kind === null ? null : { kind, note, by: actor ?? '' };
}

/** Commissions that were posted after their payment, by the payment's event: the payment's row shows them. */
export async function readLateCommissions(db: Reader, scope: MovementScope): Promise<Map<number, bigint>> {
  const rows = await db
    .selectFrom('entries')
    .leftJoin('entries as reversal', (join) =>
      join.onRef('reversal.reverses_seq', '=', 'entries.seq').on(matchesCut('reversal.seq', scope)),
    )
    .innerJoin('postings', 'postings.entry_seq', 'entries.seq')
    .innerJoin('accounts', 'accounts.seq', 'postings.account_seq')
    // the days' entries first: the accounts' own postings are those of all time
    .modifyFront(sql`STRAIGHT_JOIN`)
    .select(['entries.event_seq', sql<string>`SUM(postings.amount_cents)`.as('sum')])
    .where('entries.at_wall', '>=', scope.start)
    .where('entries.at_wall', '<', scope.end)
    .where(matchesCut('entries.seq', scope))
    .where('entries.kind', '=', 'commission')
    .where('reversal.seq', 'is', null)
    .where('accounts.name', 'like', 'Expenses:Commission:%')
    .groupBy('entries.event_seq')
    .execute();
  return new Map(rows.map((row) => [row.event_seq ?? 0, BigInt(row.sum)]));
}
