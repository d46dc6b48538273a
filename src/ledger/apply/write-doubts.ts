import type { Transaction } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';
import type { Doubt } from './load-stored-transactions.ts';

/** Minimum time between the requests of two shows that together confirm a doubt. */
export const SHOW_INTERVAL_MS_MIN = 60_000;

const TABLES = ['doubted_events', 'doubted_statuses'] as const;

export type TransactionRef = { id: string; seq: number };

/** Writes the doubts that changed. @param before and @param after by the event's row number. */
export async function writeDoubts(
  trx: Transaction<Database>,
  transaction: TransactionRef,
  before: Map<number, Doubt>,
  after: Map<number, Doubt>,
  now: Date,
): Promise<void> {
  const gone = [...before.keys()].filter((seq) => !after.has(seq));
  if (gone.length > 0) await deleteDoubts(trx, gone);
  const changed = [...after].filter(([seq, doubt]) => before.get(seq) !== doubt);
  for (const [seq, doubt] of changed) {
    const row = toRow(doubt, now);
    await trx
      .insertInto('doubted_events')
      .values({ event_seq: seq, transaction_seq: transaction.seq, transaction_id: transaction.id, ...row })
      .onDuplicateKeyUpdate(row)
      .execute();
  }
}

/** Writes the doubt about a row's own status. @param doubt undefined: there is none; the stored one is deleted. */
export async function writeDoubtedStatus(
  trx: Transaction<Database>,
  transaction: TransactionRef,
  doubt: Doubt | undefined,
  now: Date,
): Promise<void> {
  if (!doubt) {
    await trx.deleteFrom('doubted_statuses').where('transaction_seq', '=', transaction.seq).execute();
    return;
  }
  const row = toRow(doubt, now);
  await trx
    .insertInto('doubted_statuses')
    .values({ transaction_seq: transaction.seq, transaction_id: transaction.id, ...row })
    .onDuplicateKeyUpdate(row)
    .execute();
}

function toRow({ noticedAt, shownWithoutAt, isReported }: Doubt, now: Date) {
  const due = shownWithoutAt ? new Date(shownWithoutAt.getTime() + SHOW_INTERVAL_MS_MIN) : now;
  const isAwaited = !isReported || shownWithoutAt === null;
  return {
    noticed_at: noticedAt,
    shown_without_at: shownWithoutAt,
    told: isReported ? 1 : 0,
    due_at: isAwaited ? due : null,
  };
}

/** Deletes doubts about these events, so that their transactions are no longer fetched for them. */
export async function deleteDoubts(trx: Transaction<Database>, eventSeqs: number[]): Promise<void> {
  await trx.deleteFrom('doubted_events').where('event_seq', 'in', eventSeqs).execute();
}

/** Returns when each doubt about a transaction was noticed. */
export async function listDoubtTimes(db: Reader, transactionId: string): Promise<Date[]> {
  const rows = await Promise.all(
    TABLES.map((table) =>
      db.selectFrom(table).select('noticed_at').where('transaction_id', '=', transactionId).execute(),
    ),
  );
  return rows.flat().map((row) => row.noticed_at);
}

/** Defers the next fetch of these transactions, unless an observation ends the doubt before. */
export async function deferDoubts(trx: Transaction<Database>, transactionIds: string[], until: Date): Promise<void> {
  if (transactionIds.length === 0) return;
  for (const table of TABLES) {
    await trx
      .updateTable(table)
      .set({ due_at: until })
      .where('transaction_id', 'in', transactionIds)
      .where('due_at', 'is not', null)
      .execute();
  }
}

/** Selects from each table the doubts that are due to be fetched by id. */
export function selectDueDoubts(db: Reader, now: Date) {
  return TABLES.map((table) => db.selectFrom(table).select('transaction_id').where('due_at', '<=', now));
}

/** Locks transactions that are due to be fetched by id. @returns their distinct ids. */
export async function lockDueDoubts(trx: Transaction<Database>, now: Date, limit: number): Promise<string[]> {
  const ids = new Set<string>();
  for (const due of selectDueDoubts(trx, now)) {
    if (ids.size >= limit) break;
    const rows = await due
      .orderBy('due_at')
      .limit(limit - ids.size)
      .forUpdate()
      .skipLocked()
      .execute();
    for (const row of rows) ids.add(row.transaction_id);
  }
  return [...ids];
}
