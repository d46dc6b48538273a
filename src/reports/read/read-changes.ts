import { sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import type { WallTime } from '../../domain/calendar.ts';
import { splitList } from '../../domain/lists.ts';
import { NO_PLATFORM } from '../../domain/platform.ts';
import { type ChangeScope, listChangedTransactions, matchesNewEntries } from './list-changed-transactions.ts';
import { orderHistories } from './order-histories.ts';
import { OPENING_KINDS } from './read-accounts.ts';
import { type CorrectedFact, type FactCorrections, readCorrectedFacts } from './read-corrected-facts.ts';
import { isInCut, matchesCut } from './read-cut-entries.ts';
import { type EnteredAdjustment, toAdjustment } from './read-movements.ts';

/** The change of one transaction, or of one entry without a transaction, in a day from one cut to the next. */
export type DayChange = {
  recordedAt: Date;
  transactionId: string | null;
  reference: string | null;
  platform: string;
  /** The status at the day's end; null if the transaction was unknown. */
  statusBefore: string | null;
  statusAfter: string | null;
  /** The cents by which the day moved the balance. */
  effectBefore: bigint;
  effectAfter: bigint;
  /** Statuses learnt since, oldest first. */
  learntStatuses: string[];
  /** Facts that differ. */
  facts: CorrectedFact[];
  reason: 'learntLate' | 'corrected' | 'commissionLearnt' | 'factsCorrected' | 'earlierDay' | 'person';
  /** Null for a transaction. */
  adjustment: EnteredAdjustment | null;
  isReversal: boolean;
  source: { kind: string | null; webhookHash: Buffer | null; runId: string | null; page: number | null };
};

const CHUNK_ROWS = 500;

/**
 * The changes of a day between two cuts, by transaction, in the order of first observation.
 * @param list which transactions count as changed.
 */
export async function* readChanges(
  db: Reader,
  scope: ChangeScope,
  list = listChangedTransactions,
): AsyncGenerator<DayChange[], void, undefined> {
  yield await readWithoutTransaction(db, scope);
  const seqs = await list(db, scope);
  for (const some of splitList(seqs, CHUNK_ROWS)) {
    yield await readChunk(db, scope, some);
  }
}

async function readChunk(db: Reader, scope: ChangeScope, seqs: number[]): Promise<DayChange[]> {
  const rows = await db
    .selectFrom('transactions')
    .select(['seq', 'id', 'reference', 'platform', sql<Date>`first_seen_at`.as('first_seen_at')])
    .where('seq', 'in', seqs)
    .orderBy('seq')
    .execute();
  const transactions = await scope.factsAtCut.restoreFacts(rows, ['reference', 'platform'], (row) => row.seq);
  const events = await db
    .selectFrom('events')
    .leftJoin('webhooks', 'webhooks.seq', 'events.source_webhook_seq')
    .leftJoin('runs', 'runs.seq', 'events.source_run_seq')
    .select(['events.seq', 'transaction_seq', 'status', 'at_wall', 'seen_at', 'source_kind', 'source_page'])
    .select(['position', 'sequence', 'inferred'])
    .select(['webhooks.hash', 'runs.id as run_id'])
    .where('transaction_seq', 'in', seqs)
    .where('at_wall', '<', scope.end)
    .where('events.seq', '<=', scope.to.eventSeq)
    .execute();
  const entries = await readEntries(db, scope, seqs);
  const corrections = await readCorrectedFacts(db, scope, seqs);
  const eventsOf = await orderHistories(db, events, scope.to.factChangeSeq);
  const eventsBefore = await orderHistories(db, events, scope.from.factChangeSeq);
  const entriesOf = Map.groupBy(entries, (entry) => entry.transaction_seq ?? 0);
  const compare = compareHistories(scope);
  return transactions.map((transaction) => {
    const { seq } = transaction;
    const history = compare(eventsOf.get(seq) ?? [], eventsBefore.get(seq) ?? []);
    return describeChange(transaction, history, entriesOf.get(seq) ?? [], corrections.get(seq), scope);
  });
}

type Compared = { statusBefore: string | null; statusAfter: string | null; learnt: LearntEvent[] };
type LearntEvent = {
  seq: number;
  status: string;
  at_wall: WallTime;
  seen_at: Date;
  source_kind: string;
  source_page: number | null;
  hash: Buffer | null;
  run_id: string | null;
};

/** Compares a history up to the day's end between the cuts. */
function compareHistories({ factsAtCut, factsAtPreviousCut, from, start }: ChangeScope) {
  const [struck, struckBefore] = [new Set(factsAtCut.outOfForce), new Set(factsAtPreviousCut.outOfForce)];
  const lateBefore = new Set(factsAtPreviousCut.lateEvents);
  const isNew = (event: { seq: number }): boolean => event.seq > from.eventSeq || lateBefore.has(event.seq);
  return (all: LearntEvent[], allBefore: LearntEvent[]): Compared => {
    const history = all.filter((event) => !struck.has(event.seq));
    const before = allBefore.filter((event) => event.seq <= from.eventSeq && !struckBefore.has(event.seq));
    const learnt = history.filter(isNew);
    const ofDay = learnt.filter((event) => event.at_wall >= start);
    return {
      statusBefore: before.at(-1)?.status ?? null,
      statusAfter: history.at(-1)?.status ?? null,
      learnt: ofDay.length > 0 ? ofDay : learnt,
    };
  };
}

type Changed = { id: string; reference: string | null; platform: string | null; first_seen_at: Date };

function describeChange(
  transaction: Changed,
  { learnt, ...statuses }: Compared,
  moved: Entry[],
  correction: FactCorrections | undefined,
  { from }: ChangeScope,
): DayChange {
  const added = moved.filter((entry) => !isInCut(entry.seq, from));
  const cause = added.at(-1) ?? learnt.at(-1) ?? correction?.source;
  return {
    recordedAt: added.at(-1)?.recorded_at ?? learnt.at(-1)?.seen_at ?? correction?.at ?? transaction.first_seen_at,
    transactionId: transaction.id,
    reference: transaction.reference,
    platform: transaction.platform ?? NO_PLATFORM,
    ...statuses,
    effectBefore: sum(moved.filter((entry) => isInCut(entry.seq, from))),
    effectAfter: sum(moved),
    learntStatuses: learnt.map((event) => event.status),
    facts: correction?.facts ?? [],
    ...{ adjustment: null, isReversal: false },
    reason: nameReason(learnt.length > 0, added, correction !== undefined),
    source: toSource(cause),
  };
}

async function readEntries(db: Reader, scope: ChangeScope, seqs: number[] | null) {
  return await db
    .selectFrom('entries')
    .leftJoin('entries as origin', 'origin.seq', 'entries.reverses_seq')
    .innerJoin('postings', 'postings.entry_seq', 'entries.seq')
    .innerJoin('accounts', 'accounts.seq', 'postings.account_seq')
    .leftJoin('webhooks', 'webhooks.seq', 'entries.source_webhook_seq')
    .leftJoin('runs', 'runs.seq', 'entries.source_run_seq')
    .leftJoin('adjustments', 'adjustments.entry_seq', 'entries.seq')
    .select(['adjustments.kind as adjustment_kind', 'adjustments.note', 'adjustments.actor', 'entries.reverses_seq'])
    .select(['entries.seq', 'entries.transaction_seq', 'entries.kind', 'entries.recorded_at', 'entries.platform'])
    .select(['entries.source_kind', 'entries.source_page', 'webhooks.hash', 'runs.id as run_id'])
    .select(
      sql<string>`SUM(CASE WHEN accounts.name LIKE 'Assets:Provider:Available:%'
        OR accounts.name LIKE 'Assets:Provider:Held:%' THEN postings.amount_cents ELSE 0 END)`.as('net'),
    )
    .where('entries.at_wall', '>=', scope.start)
    .where('entries.at_wall', '<', scope.end)
    .where(matchesCut('entries.seq', scope.to))
    // the opening balance holds these already
    .where(sql`COALESCE(origin.kind, entries.kind)`, 'not in', OPENING_KINDS)
    .where((eb) =>
      seqs === null
        ? eb.and([eb('entries.transaction_seq', 'is', null), matchesNewEntries(scope)])
        : eb('entries.transaction_seq', 'in', seqs),
    )
    .$if(scope.platform !== undefined, (query) => query.where('entries.platform', '=', scope.platform ?? ''))
    .groupBy('entries.seq')
    .orderBy('entries.seq')
    .execute();
}

/** Entries of people: adjustments and their reversals. */
async function readWithoutTransaction(db: Reader, scope: ChangeScope): Promise<DayChange[]> {
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
    learntStatuses: [],
    facts: [],
    reason: 'person' as const,
    adjustment: toAdjustment(entry),
    isReversal: entry.reverses_seq !== null,
    source: toSource(entry),
  }));
}

type Entry = Awaited<ReturnType<typeof readEntries>>[number];

function nameReason(hasLearnt: boolean, added: Entry[], isCorrected: boolean): DayChange['reason'] {
  if (added.length > 0 && added.every((entry) => entry.kind === 'commission')) return 'commissionLearnt';
  if (hasLearnt) return 'learntLate';
  if (added.length > 0) return 'corrected';
  return isCorrected ? 'factsCorrected' : 'earlierDay';
}

function sum(entries: Entry[]): bigint {
  return entries.reduce((total, entry) => total + BigInt(entry.net), 0n);
}

function toSource(cause: FactCorrections['source'] | undefined): DayChange['source'] {
  return {
    kind: cause?.source_kind ?? null,
    webhookHash: cause?.hash ?? null,
    runId: cause?.run_id ?? null,
    page: cause?.source_page ?? null,
  };
}
