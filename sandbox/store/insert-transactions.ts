import { CompiledQuery } from 'kysely';
import type { DatabaseTransaction, NewTransactionRow, StoredTransaction } from './tables.ts';
import { updateHourCounts } from './update-hour-counts.ts';

const ROWS_PER_STATEMENT_MAX = 500;

/** A transaction to store: its row, its history (oldest first) and its planned steps. */
export type NewTransaction = {
  row: NewTransactionRow;
  events: ReadonlyArray<{ status: string; at_wall: string }>;
  steps: ReadonlyArray<{ status: string; due_at: Date }>;
};

const COLUMNS = [
  'id',
  'operation',
  'status',
  'amount_cents',
  'commission_cents',
  'created_wall',
  'updated_wall',
  'name',
  'email',
  'phone',
  'document',
  'description',
  'platform',
  'reference',
  'claim',
  'extra',
  'e2e_id',
  'pix_key',
  'shown',
  'listed',
  'visible',
] as const;

const DEFAULTS: Partial<Record<(typeof COLUMNS)[number], number>> = { listed: 1, visible: 1 };

/**
 * Stores transactions with their events and steps. The statements are raw SQL, because the query builder takes longer for
 * 500 rows than the server does. Throws the driver's duplicate key error if an id or a claimed reference is taken.
 */
export async function insertTransactions(trx: DatabaseTransaction, list: readonly NewTransaction[]): Promise<void> {
  for (let at = 0; at < list.length; at += ROWS_PER_STATEMENT_MAX) {
    const batch = list.slice(at, at + ROWS_PER_STATEMENT_MAX);
    const sequences = await insertRows(trx, batch);
    const events = batch.flatMap(({ events }, i) =>
      events.map((event, n) => [sequences[i], n + 1, event.status, event.at_wall]),
    );
    await insertMany(trx, 'events (transaction_seq, position, status, at_wall)', events);
    const steps = batch.flatMap(({ steps }, i) => steps.map((step) => [sequences[i], step.status, step.due_at]));
    await insertMany(trx, 'steps (transaction_seq, status, due_at)', steps);
    await updateHourCounts(
      trx,
      batch.filter(({ row }) => row.listed !== 0).map(({ row }) => row.created_wall),
      1,
    );
  }
}

/** Returns a new transaction as the store would return it, without its key. */
export function asStored({ row, events }: NewTransaction): StoredTransaction {
  const shown = events.map(({ status, at_wall }) => ({ date_created: at_wall, status })).reverse();
  const absent = { shown: null, reference: null, claim: null, extra: null, pix_key: null };
  return { ...absent, ...row, seq: 0, listed: 1, visible: 1, events: shown };
}

async function insertRows(trx: DatabaseTransaction, batch: readonly NewTransaction[]): Promise<number[]> {
  const values = batch.map(({ row }) => COLUMNS.map((column) => row[column] ?? DEFAULTS[column] ?? null));
  const { insertId } = await insertMany(trx, `transactions (${COLUMNS.join(', ')})`, values);
  if (batch.length === 1 && insertId) return [Number(insertId)];
  // read the keys back: with interleaved auto-increment locks those of one statement need not be consecutive
  const ids = batch.map(({ row }) => row.id);
  const found = await trx.selectFrom('transactions').select(['seq', 'id']).where('id', 'in', ids).execute();
  const byId = new Map(found.map(({ id, seq }) => [id, seq]));
  return ids.map((id) => {
    const seq = byId.get(id);
    if (seq === undefined) throw new Error(`the transaction ${id} was not stored`);
    return seq;
  });
}

async function insertMany(
  trx: DatabaseTransaction,
  into: string,
  values: unknown[][],
): Promise<{ insertId?: bigint | undefined }> {
  return values.length === 0 ? {} : trx.executeQuery(CompiledQuery.raw(`INSERT INTO ${into} VALUES ?`, [values]));
}
