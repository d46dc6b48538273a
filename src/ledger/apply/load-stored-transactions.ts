import { type Selectable, sql, type Transaction } from 'kysely';
import type { Database } from '../../database/tables.ts';
import { groupValues } from '../../domain/group-values.ts';
import type { Operation } from '../../domain/statuses.ts';
import { withholdExtra } from '../../privacy/withhold-extra.ts';
import type { CorrectionSummary, StoredTransaction } from '../decide/decide-observation.ts';
import { type StoredEvent, sortHistory } from '../decide/extend-history.ts';
import type { EntryInForce } from '../journal/diff-entries.ts';
import { loadEntriesInForce } from '../journal/load-entries.ts';
import { readEventPositions } from './read-event-positions.ts';

export type LoadedTransaction = {
  seq: number;
  /** What the row says of its events. */
  row: { status: string; status_wall: string; sequence: number; event_count: number; reordered: number };
  stored: StoredTransaction;
  /** As the row has it; what is held may have been hidden since. */
  party: Pick<StoredTransaction, (typeof PARTY_FACTS)[number]>;
  entries: EntryInForce[];
  /** By the event's row number, those that a look lacked. */
  doubts: Map<number, Doubt>;
  /** Whether the row's own status is its newest event's; undefined: nothing says that it is not. */
  statusDoubt: Doubt | undefined;
  /** Whose it was, by the keyed hash, where they were forgotten. */
  forgotten: Buffer | undefined;
};

export const PARTY_FACTS = ['name', 'email', 'phone', 'document', 'description', 'pixKey'] as const;

/**
 * What the provider was seen to contradict: an event that it shows no more, or the history by the row's own status.
 * `told`: shows have told so, and none has said otherwise since; then `shownWithoutAt` is null where a list said so since
 * and a show is awaited.
 */
export type Doubt = { noticedAt: Date; shownWithoutAt: Date | null; isReported: boolean };

/** In place of a mismatch: nobody accepted one, the history itself was corrected. */
export const NO_MISMATCH = 0;

type TransactionRow = Selectable<Database['transactions']>;

/**
 * Locks the transactions of these ids in the order of their ids, which is the same for every writer, and reads them
 * with their events, their corrections and their entries in force: five statements, however many ids. By this index and
 * no other: left to itself, the server may read the whole of a small table, and wait for every row that another applier
 * is writing.
 */
export async function loadStoredTransactions(
  trx: Transaction<Database>,
  ids: string[],
): Promise<Map<string, LoadedTransaction>> {
  const { rows } = await sql<TransactionRow>`
    SELECT * FROM transactions FORCE INDEX (transactions_id) WHERE id IN (${sql.join(ids)}) ORDER BY id
    FOR UPDATE`.execute(trx);
  return new Map((await assemble(trx, rows, isCorrected)).map((one) => [one.stored.id, one]));
}

/** The next transactions by their row numbers, in that order, without a lock. */
export async function loadStoredTransactionRange(
  snapshot: Transaction<Database>,
  after: number,
  limit: number,
): Promise<LoadedTransaction[]> {
  const rows = await snapshot
    .selectFrom('transactions')
    .selectAll()
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
  // verified as they stand, and not by what their rows say of them
  return await assemble(snapshot, rows, () => true);
}

/** A correction takes a number of the transaction's sequence: where every number is an event's, there was none. */
function isCorrected({ sequence }: TransactionRow, history: StoredEvent[]): boolean {
  return Math.max(sequence, ...history.map((event) => event.sequence)) > history.length;
}

/** @param mayBeCorrected whether to look for corrections of a transaction with this history. */
async function assemble(
  trx: Transaction<Database>,
  rows: TransactionRow[],
  mayBeCorrected: (row: TransactionRow, history: StoredEvent[]) => boolean,
): Promise<LoadedTransaction[]> {
  if (rows.length === 0) return [];
  const seqs = rows.map((row) => row.seq);
  const parties = await loadParties(trx, seqs);
  const partyOf = new Map(parties.map((party) => [party.transaction_seq, party]));
  const reordered = rows.filter((row) => row.reordered === 1).map((row) => row.seq);
  const { events, doubts } = await loadEvents(trx, seqs, await readEventPositions(trx, reordered));
  const corrected = rows.filter((row) => mayBeCorrected(row, events.get(row.seq) ?? [])).map((row) => row.seq);
  const corrections = await loadCorrections(trx, corrected);
  const struckSeqs = corrections.size > 0 ? await loadStruck(trx, [...corrections.keys()]) : new Set();
  const entries = await loadEntriesInForce(trx, seqs);
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
      row: row,
      entries: entries.get(row.seq) ?? [],
      doubts: new Map(doubts.get(row.seq)),
      statusDoubt: known && toDoubt(known),
      party,
      forgotten: known?.forgotten_at ? (known.document_hash ?? undefined) : undefined,
      stored: {
        id: row.id,
        operation: row.operation as Operation,
        amountCents: row.amount_cents,
        commissionCents: row.commission_cents,
        createdWall: row.created_wall,
        reference: row.reference,
        extra: row.extra ?? (row.extra_hash && withholdExtra(row.extra_hash)),
        platform: row.platform,
        e2eId: row.e2e_id,
        ...party,
        digest: row.digest,
        askedAt: row.asked_at,
        events: sortHistory(history.filter((event) => !struckSeqs.has(event.seq))),
        outOfForce: history.filter((event) => struckSeqs.has(event.seq)),
        orderedAt: row.ordered_at ?? undefined,
        corrections: corrections.get(row.seq),
      },
    };
  });
}

/** The parties of each transaction, and the doubt about its own status. */
async function loadParties(trx: Transaction<Database>, seqs: number[]) {
  return await trx
    .selectFrom('parties')
    .leftJoin('doubted_statuses as doubted', 'doubted.transaction_seq', 'parties.transaction_seq')
    .selectAll('parties')
    .select(['doubted.noticed_at', 'doubted.shown_without_at', 'doubted.told'])
    .where('parties.transaction_seq', 'in', seqs)
    .execute();
}

/** The events of each transaction, and the doubts about them. */
async function loadEvents(trx: Transaction<Database>, seqs: number[], places: Map<number, number>) {
  const rows = await trx
    .selectFrom('events')
    .leftJoin('doubted_events', 'doubted_events.event_seq', 'events.seq')
    .select(['events.seq', 'events.transaction_seq', 'status', 'at_wall', 'occurrence', 'position', 'sequence'])
    .select(['inferred', 'noticed_at', 'shown_without_at', 'told'])
    .where('events.transaction_seq', 'in', seqs)
    .execute();
  const events = groupValues(
    rows,
    (row) => row.transaction_seq,
    (row) => ({
      seq: row.seq,
      status: row.status,
      atWall: row.at_wall,
      occurrence: row.occurrence,
      position: places.get(row.seq) ?? row.position,
      sequence: row.sequence,
      // one that a history gave a place is inferred no more
      inferred: row.inferred === 1 && !places.has(row.seq),
    }),
  );
  const doubts = new Map<number, [number, Doubt][]>();
  for (const { seq, transaction_seq: transactionSeq, ...row } of rows) {
    const doubt = toDoubt(row);
    if (doubt) doubts.set(transactionSeq, [...(doubts.get(transactionSeq) ?? []), [seq, doubt]]);
  }
  return { events, doubts };
}

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

/** Events that are not in force: by the newest word on each. */
async function loadStruck(trx: Transaction<Database>, seqs: number[]): Promise<Set<number | undefined>> {
  const rows = await trx
    .selectFrom('event_standings')
    .select(['event_seq', 'in_force'])
    .where('transaction_seq', 'in', seqs)
    .orderBy('seq')
    .execute();
  const newest = new Map(rows.map((row) => [row.event_seq, row.in_force]));
  return new Set([...newest].filter(([, inForce]) => inForce === 0).map(([seq]) => seq));
}
