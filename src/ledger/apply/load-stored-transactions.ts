import { type Selectable, sql, type Transaction } from 'kysely';
import { compileOnce } from '../../database/compile-once.ts';
import type { Reader } from '../../database/reader.ts';
import { runTogether } from '../../database/run-together.ts';
import type { Database } from '../../database/tables.ts';
import { groupValues, largest } from '../../domain/lists.ts';
import { NO_MISMATCH } from '../../domain/mismatch.ts';
import { type StoredEvent, sortHistory } from '../../domain/sort-history.ts';
import type { Operation } from '../../domain/statuses.ts';
import { withholdExtra } from '../../privacy/withhold-extra.ts';
import { parseEvidence } from '../decide/commission-evidence.ts';
import type { CorrectionSummary, StoredTransaction } from '../decide/stored-transaction.ts';
import type { EntryInForce } from '../journal/diff-entries.ts';
import { loadEntriesInForce } from '../journal/load-entries.ts';
import { AWAITS_OBSERVATION } from './drop-unchanged.ts';
import { readEventPositions } from './read-event-positions.ts';

export type LoadedTransaction = {
  seq: number;
  /** The summary of the history in the transaction's row. */
  row: { status: string; status_wall: string; sequence: number; event_count: number; reordered: number };
  stored: StoredTransaction;
  /** The personal fields as the row has them; in `stored` they may have been redacted since. */
  party: Pick<StoredTransaction, (typeof PARTY_FACTS)[number]>;
  entries: EntryInForce[];
  /** Doubts about events that an observation lacked, by the event's row number. */
  doubts: Map<number, Doubt>;
  /** The doubt whether the row's own status is that of its newest event; undefined: not in doubt. */
  statusDoubt: Doubt | undefined;
  /** The keyed hash of the person, where the person was forgotten. */
  forgotten: Buffer | undefined;
  /** Whether a mismatch or a doubt awaits an observation. Only read with the lock. */
  isAwaited: boolean;
};

export const PARTY_FACTS = ['name', 'email', 'phone', 'document', 'description', 'pixKey'] as const;

/**
 * A contradiction by the provider: it no longer shows an event, or a row's own status contradicts its history.
 * `isReported`: shows confirmed it and no show has denied it since; then `shownWithoutAt` is null if a list denied it
 * and a show is awaited.
 */
export type Doubt = { noticedAt: Date; shownWithoutAt: Date | null; isReported: boolean };

type TransactionRow = Selectable<Database['transactions']> & { is_awaited?: number };

const lockTransactions = compileOnce(
  (_, { ids }: { ids: string[] }) => sql<TransactionRow>`
    SELECT transactions.*, ${sql.raw(AWAITS_OBSERVATION)} AS is_awaited FROM transactions FORCE INDEX (transactions_id) WHERE id IN ${ids} ORDER BY id FOR UPDATE`,
);

/**
 * Locks the transactions of these ids, in the order of the ids, which all writers share, and reads them with their
 * events, corrections and entries in force: five statements, however many ids. FORCE INDEX: otherwise the server may
 * scan a small table and wait for every row that another applier is writing.
 */
export async function loadStoredTransactions(
  trx: Transaction<Database>,
  ids: string[],
): Promise<Map<string, LoadedTransaction>> {
  const { rows } = await lockTransactions(trx, { ids });
  return new Map((await assemble(trx, rows, isCorrected)).map((one) => [one.stored.id, one]));
}

/** Transactions by row number: the next ones, or single ones. */
export type TransactionSelection = { after: number; limit: number } | { seqs: number[] };

/** Reads transactions in the order of their row numbers, without a lock. */
export async function readStoredTransactions(
  snapshot: Transaction<Database>,
  choice: TransactionSelection,
): Promise<LoadedTransaction[]> {
  if ('seqs' in choice && choice.seqs.length === 0) return [];
  let query = snapshot.selectFrom('transactions').selectAll().orderBy('seq');
  if ('seqs' in choice) query = query.where('seq', 'in', choice.seqs);
  else query = query.where('seq', '>', choice.after).limit(choice.limit);
  // verification reads the corrections of every transaction and does not trust the row's summary
  return await assemble(snapshot, await query.execute(), () => true);
}

/** Reads the events in force of transactions, in the order of their history, by row number, without a lock. */
export async function readEventsInForce(db: Reader, seqs: number[]): Promise<Map<number, StoredEvent[]>> {
  const { events } = await loadEvents(db, seqs, seqs);
  const outOfForce = await loadOutOfForce(db, seqs);
  return new Map([...events].map(([seq, all]) => [seq, sortHistory(all.filter((one) => !outOfForce.has(one.seq)))]));
}

/** A correction uses a sequence number of the transaction: if all numbers belong to events, there was no correction. */
function isCorrected({ sequence }: TransactionRow, history: StoredEvent[]): boolean {
  return Math.max(sequence, largest(history.map((event) => event.sequence))) > history.length;
}

/** @param mayBeCorrected whether to search for corrections of a transaction with this history. */
async function assemble(
  trx: Transaction<Database>,
  rows: TransactionRow[],
  mayBeCorrected: (row: TransactionRow, history: StoredEvent[]) => boolean,
): Promise<LoadedTransaction[]> {
  if (rows.length === 0) return [];
  const seqs = rows.map((row) => row.seq);
  const reordered = rows.filter((row) => row.reordered === 1).map((row) => row.seq);
  const [parties, { events, doubts }, entries] = await runTogether(trx, [
    (together) => loadParties(together, seqs),
    (together) => loadEvents(together, seqs, reordered),
    (together) => loadEntriesInForce(together, seqs),
  ]);
  const partyOf = new Map(parties.map((party) => [party.transaction_seq, party]));
  const corrected = rows.filter((row) => mayBeCorrected(row, events.get(row.seq) ?? [])).map((row) => row.seq);
  const corrections = await loadCorrections(trx, corrected);
  const outOfForceSeqs = corrections.size > 0 ? await loadOutOfForce(trx, [...corrections.keys()]) : new Set();
  return rows.map((row): LoadedTransaction => {
    const known = partyOf.get(row.seq);
    const party = {
      name: known?.name ?? null,
      email: known?.email ?? null,
      phone: known?.phone ?? null,
      document: known?.document ?? null,
      description: known?.description ?? null,
      pixKey: known?.pix_key ?? null,
    };
    const history = events.get(row.seq) ?? [];
    return {
      seq: row.seq,
      row,
      entries: entries.get(row.seq) ?? [],
      doubts: new Map(doubts.get(row.seq)),
      statusDoubt: known && toDoubt(known),
      party,
      forgotten: known?.forgotten_at ? (known.document_hash ?? undefined) : undefined,
      isAwaited: row.is_awaited === 1,
      stored: {
        id: row.id,
        operation: row.operation as Operation,
        amountCents: row.amount_cents,
        commissionCents: row.commission_cents,
        commissionEvidence: parseEvidence(row.commission_evidence),
        createdWall: row.created_wall,
        reference: row.reference,
        extra: row.extra ?? (row.extra_hash && withholdExtra(row.extra_hash)),
        platform: row.platform,
        e2eId: row.e2e_id,
        ...party,
        digest: row.digest,
        askedAt: row.asked_at,
        events: sortHistory(history.filter((event) => !outOfForceSeqs.has(event.seq))),
        outOfForce: history.filter((event) => outOfForceSeqs.has(event.seq)),
        orderedAt: row.ordered_at ?? undefined,
        corrections: corrections.get(row.seq),
      },
    };
  });
}

/** Reads the party of each transaction, and the doubt about its own status. */
async function loadParties(trx: Transaction<Database>, seqs: number[]) {
  return (await selectParties(trx, { seqs })).rows;
}

const selectParties = compileOnce((db, { seqs }: { seqs: number[] }) =>
  db
    .selectFrom('parties')
    .leftJoin('doubted_statuses as doubted', 'doubted.transaction_seq', 'parties.transaction_seq')
    .selectAll('parties')
    .select(['doubted.noticed_at', 'doubted.shown_without_at', 'doubted.told'])
    .where('parties.transaction_seq', 'in', seqs),
);

/** Reads the events of each transaction, and the doubts about them. */
async function loadEvents(db: Reader, seqs: number[], reordered: number[]) {
  const positions = await readEventPositions(db, reordered);
  const { rows } = await selectEvents(db, { seqs });
  const events = groupValues(
    rows,
    (row) => row.transaction_seq,
    (row) => ({
      seq: row.seq,
      status: row.status,
      atWall: row.at_wall,
      occurrence: row.occurrence,
      position: positions.get(row.seq) ?? row.position,
      sequence: row.sequence,
      // an inferred event that a history contains is no longer inferred
      inferred: row.inferred === 1 && !positions.has(row.seq),
      number: row.number,
    }),
  );
  const doubts = new Map<number, [number, Doubt][]>();
  for (const { seq, transaction_seq: transactionSeq, ...row } of rows) {
    const doubt = toDoubt(row);
    if (doubt) doubts.set(transactionSeq, [...(doubts.get(transactionSeq) ?? []), [seq, doubt]]);
  }
  return { events, doubts };
}

const selectEvents = compileOnce((db, { seqs }: { seqs: number[] }) =>
  db
    .selectFrom('events')
    .leftJoin('doubted_events', 'doubted_events.event_seq', 'events.seq')
    .select(['events.seq', 'events.transaction_seq', 'status', 'at_wall', 'occurrence', 'position', 'sequence'])
    .select(['inferred', 'number', 'noticed_at', 'shown_without_at', 'told'])
    .where('events.transaction_seq', 'in', seqs),
);

type DoubtColumns = { noticed_at: Date | null; shown_without_at: Date | null; told: number | null };

function toDoubt(row: DoubtColumns): Doubt | undefined {
  if (row.noticed_at === null) return undefined;
  return { noticedAt: row.noticed_at, shownWithoutAt: row.shown_without_at, isReported: row.told === 1 };
}

async function loadCorrections(trx: Transaction<Database>, seqs: number[]): Promise<Map<number, CorrectionSummary>> {
  if (seqs.length === 0) return new Map();
  const rows = await trx
    .selectFrom('corrections')
    .select(['transaction_seq', 'sequence', 'created_at', 'mismatch_seq'])
    .where('transaction_seq', 'in', seqs)
    .orderBy('sequence')
    .execute();
  const corrections = new Map<number, CorrectionSummary>();
  for (const { transaction_seq: seq, sequence, ...row } of rows) {
    const before = corrections.get(seq);
    const at = row.mismatch_seq === NO_MISMATCH ? before?.acceptedAt : row.created_at;
    corrections.set(seq, { count: (before?.count ?? 0) + 1, sequence, acceptedAt: at });
  }
  return corrections;
}

/** Returns the events that are out of force: for each event, its newest row in `event_standings` decides. */
async function loadOutOfForce(db: Reader, seqs: number[]): Promise<Set<number | undefined>> {
  const rows = await db
    .selectFrom('event_standings')
    .select(['event_seq', 'in_force'])
    .where('transaction_seq', 'in', seqs)
    .orderBy('seq')
    .execute();
  const newest = new Map(rows.map((row) => [row.event_seq, row.in_force]));
  return new Set([...newest].filter(([, inForce]) => inForce === 0).map(([seq]) => seq));
}
