import { CompiledQuery } from 'kysely';
import type { DatabaseTransaction, NewTransactionRow } from './tables.ts';
import { updateHourCounts } from './update-hour-counts.ts';

const ROWS_PER_STATEMENT_MAX = 500;

/** A transaction to store: its row, its history (oldest first) and what is still to happen to it. */
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
 * Stores transactions with their events and steps. Statements are written by hand: the query builder takes longer
 * over 500 rows than the server does.
 * Throws the driver's duplicate key error where an id or a claimed reference is taken.
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

async function insertRows(trx: DatabaseTransaction, batch: readonly NewTransaction[]): Promise<number[]> {
  const values = batch.map(({ row }) => COLUMNS.map((column) => row[column] ?? DEFAULTS[column] ?? null));
  const first = await insertMany(trx, `transactions (${COLUMNS.join(', ')})`, values);
  if (batch.length === 1) return [first];
  // With interleaved auto-increment locks the keys of one statement need not follow each other: read them back.
  const ids = batch.map(({ row }) => row.id);
  const found = await trx.selectFrom('transactions').select(['seq', 'id']).where('id', 'in', ids).execute();
  const byId = new Map(found.map(({ id, seq }) => [id, seq]));
  return ids.map((id) => byId.get(id) ?? 0);
}

/** The first key that the statement made, 0 where the table makes none. */
async function insertMany(trx: DatabaseTransaction, into: string, values: unknown[][]): Promise<number> {
  if (values.length === 0) return 0;
  const result = await trx.executeQuery(CompiledQuery.raw(`INSERT INTO ${into} VALUES ?`, [values]));
  return Number(result.insertId ?? 0);
}
