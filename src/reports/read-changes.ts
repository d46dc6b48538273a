import { type SqlBool, sql } from 'kysely';

import type { Reader } from '../database/reader.ts';
import type { Wall } from '../domain/calendar.ts';
import type { Cut } from './plan.ts';
import { DIGESTED_FACTS, type KnownThen } from './read-facts.ts';
import { type EntriesOfCut, isOfCut, wasOfCut } from './read-late.ts';

/** What became of one transaction (or of one entry without a transaction) in a day, from one cut to the next. */
export type Change = {
  recordedAt: Date;
  transactionId: string | null;
  reference: string | null;
  platform: string;
  /** The status at the day's end; null: the transaction was not there. */
  statusBefore: string | null;
  statusAfter: string | null;
  /** What the day moved the balance by. */
  effectBefore: bigint;
  effectAfter: bigint;
  /** Statuses learnt since, oldest first. */
  learnt: string[];
  why: 'learntLate' | 'corrected' | 'commissionLearnt' | 'factsCorrected' | 'person';
  source: { kind: string; webhookHash: Buffer | null; runId: string | null; page: number | null };
};

export type ChangeScope = {
  start: Wall;
  end: Wall;
  from: Cut & EntriesOfCut;
  to: Cut & EntriesOfCut;
  platform: string | undefined;
  /** At the later cut, and at the one before. */
  known: KnownThen;
  knownBefore: KnownThen;
};

const CHUNK_ROWS = 500;

/** The changes of a day between two cuts, by transaction, in the order in which we met the transactions. */
export async function* readChanges(db: Reader, scope: ChangeScope): AsyncGenerator<Change[], void, undefined> {
  yield await readWithoutTransaction(db, scope);
  const seqs = await listChanged(db, scope);
  for (let start = 0; start < seqs.length; start += CHUNK_ROWS) {
    yield await readChunk(db, scope, seqs.slice(start, start + CHUNK_ROWS));
  }
}

async function listChanged(db: Reader, scope: ChangeScope): Promise<number[]> {
  const rows = await db
    .selectFrom('entries')
    .select('entries.transaction_seq as seq')
    .where('at_wall', '>=', scope.start)
    .where('at_wall', '<', scope.end)
    .where(isAdded(scope))
    .where('transaction_seq', 'is not', null)
    .$if(scope.platform !== undefined, (query) => query.where('platform', '=', scope.platform ?? ''))
    .union(
      db
        .selectFrom('events')
        .innerJoin('transactions', 'transactions.seq', 'events.transaction_seq')
        .select('events.transaction_seq as seq')
        .where('events.at_wall', '>=', scope.start)
        .where('events.at_wall', '<', scope.end)
        .where('events.seq', '>', scope.from.eventSeq)
        .where('events.seq', '<=', scope.to.eventSeq)
        .$if(scope.platform !== undefined, (query) => query.where('transactions.platform', '=', scope.platform ?? '')),
    )
    .union(
      db
        .selectFrom('fact_changes')
        .innerJoin('transactions', 'transactions.seq', 'fact_changes.transaction_seq')
        .select('fact_changes.transaction_seq as seq')
        .where('fact_changes.seq', '>', scope.from.factChangeSeq)
        .where('fact_changes.seq', '<=', scope.to.factChangeSeq)
        .where('fact_changes.name', 'in', DIGESTED_FACTS)
        .where('transactions.created_wall', '>=', scope.start)
        .where('transactions.created_wall', '<', scope.end)
        .$if(scope.platform !== undefined, (query) => query.where('transactions.platform', '=', scope.platform ?? '')),
    )
    .execute();
  return rows.flatMap((row) => (row.seq === null ? [] : [row.seq])).sort((a, b) => a - b);
}

async function readChunk(db: Reader, scope: ChangeScope, seqs: number[]): Promise<Change[]> {
  const known = await db
    .selectFrom('transactions')
    .select(['seq', 'id', 'reference', 'platform', sql<Date>`first_seen_at`.as('first_seen_at')])
    .where('seq', 'in', seqs)
    .orderBy('seq')
    .execute();
  const transactions = await scope.known.putBack(known, ['reference', 'platform'], (row) => row.seq);
  const events = await db
    .selectFrom('events')
    .leftJoin('webhooks', 'webhooks.seq', 'events.source_webhook_seq')
    .leftJoin('runs', 'runs.seq', 'events.source_run_seq')
    .select(['events.seq', 'transaction_seq', 'status', 'at_wall', 'seen_at', 'source_kind', 'source_page'])
    .select(['webhooks.hash', 'runs.id as run_id'])
    .where('transaction_seq', 'in', seqs)
    .where('at_wall', '<', scope.end)
    .where('events.seq', '<=', scope.to.eventSeq)
    .orderBy('at_wall')
    .orderBy('position')
    .orderBy('sequence')
    .execute();
  const entries = await readEntries(db, scope, seqs);
  const [struck, struckBefore] = [new Set(scope.known.struck), new Set(scope.knownBefore.struck)];
  const lateBefore = new Set(scope.knownBefore.lateEvents);
  const eventsOf = Map.groupBy(events, (event) => event.transaction_seq);
  const entriesOf = Map.groupBy(entries, (entry) => entry.transaction_seq ?? 0);
  return transactions.map((transaction) => {
    const all = eventsOf.get(transaction.seq) ?? [];
    const history = all.filter((event) => !struck.has(event.seq));
    const before = all.filter((event) => event.seq <= scope.from.eventSeq && !struckBefore.has(event.seq));
    const isNew = (event: { seq: number }) => event.seq > scope.from.eventSeq || lateBefore.has(event.seq);
    const learnt = history.filter((event) => isNew(event) && event.at_wall >= scope.start);
    const moved = entriesOf.get(transaction.seq) ?? [];
    const added = moved.filter((entry) => !wasOfCut(entry.seq, scope.from));
    const cause = added.at(-1) ?? learnt.at(-1);
    return {
      recordedAt: added.at(-1)?.recorded_at ?? learnt.at(-1)?.seen_at ?? transaction.first_seen_at,
      transactionId: transaction.id,
      reference: transaction.reference,
      platform: transaction.platform ?? 'none',
      statusBefore: before.at(-1)?.status ?? null,
      statusAfter: history.at(-1)?.status ?? null,
      effectBefore: sum(moved.filter((entry) => wasOfCut(entry.seq, scope.from))),
      effectAfter: sum(moved),
      learnt: learnt.map((event) => event.status),
      why: nameReason(learnt.length > 0, added),
      source: toSource(cause),
    };
  });
}

/** What the later cut holds and the one before does not. */
function isAdded({ from, to }: ChangeScope) {
  return sql<SqlBool>`${isOfCut('entries.seq', to)} AND NOT ${isOfCut('entries.seq', from)}`;
}

async function readEntries(db: Reader, scope: ChangeScope, seqs: number[] | null) {
  return await db
    .selectFrom('entries')
    .innerJoin('postings', 'postings.entry_seq', 'entries.seq')
    .innerJoin('accounts', 'accounts.seq', 'postings.account_seq')
    .leftJoin('webhooks', 'webhooks.seq', 'entries.source_webhook_seq')
    .leftJoin('runs', 'runs.seq', 'entries.source_run_seq')
    .select(['entries.seq', 'entries.transaction_seq', 'entries.kind', 'entries.recorded_at', 'entries.platform'])
    .select(['entries.source_kind', 'entries.source_page', 'webhooks.hash', 'runs.id as run_id'])
    .select(
      sql<string>`SUM(CASE WHEN accounts.name LIKE 'Assets:Provider:Available:%'
        OR accounts.name LIKE 'Assets:Provider:Held:%' THEN postings.amount_cents ELSE 0 END)`.as('net'),
    )
    .where('entries.at_wall', '>=', scope.start)
    .where('entries.at_wall', '<', scope.end)
    .where(isOfCut('entries.seq', scope.to))
    .where((eb) =>
      seqs === null
        ? eb.and([eb('entries.transaction_seq', 'is', null), isAdded(scope)])
        : eb('entries.transaction_seq', 'in', seqs),
    )
    .$if(scope.platform !== undefined, (query) => query.where('entries.platform', '=', scope.platform ?? ''))
    .groupBy('entries.seq')
    .orderBy('entries.seq')
    .execute();
}

/** Openings, adjustments and their reversals: a person's entries. */
async function readWithoutTransaction(db: Reader, scope: ChangeScope): Promise<Change[]> {
  const entries = await readEntries(db, scope, null);
  return entries.map((entry) => ({
    recordedAt: entry.recorded_at,
    transactionId: null,
    reference: null,
    platform: entry.platform,
    statusBefore: null,
    statusAfter: null,
    effectBefore: 0n,
    effectAfter: BigInt(entry.net),
    learnt: [],
    why: 'person' as const,
    source: toSource(entry),
  }));
}

type Entry = Awaited<ReturnType<typeof readEntries>>[number];

function nameReason(learnt: boolean, added: Entry[]): Change['why'] {
  if (added.length > 0 && added.every((entry) => entry.kind === 'commission')) return 'commissionLearnt';
  if (learnt) return 'learntLate';
  return added.length === 0 ? 'factsCorrected' : 'corrected';
}

function sum(entries: Entry[]): bigint {
  return entries.reduce((total, entry) => total + BigInt(entry.net), 0n);
}

function toSource(
  cause: { source_kind: string; source_page: number | null; hash: Buffer | null; run_id: string | null } | undefined,
): Change['source'] {
  return {
    kind: cause?.source_kind ?? 'show',
    webhookHash: cause?.hash ?? null,
    runId: cause?.run_id ?? null,
    page: cause?.source_page ?? null,
  };
}
