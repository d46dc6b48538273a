import { type Selectable, sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';
import { refuse } from '../../texts/refuse.ts';

export const CALLBACK_STATES = ['pending', 'held', 'delivered', 'failed'] as const;
export type CallbackState = (typeof CALLBACK_STATES)[number];

const ID = /^cb_([1-9]\d{0,15})$/;

/**
 * Whether an older one of its transaction or order is undelivered, of a pending callback. Its state is an expression, which has no
 * index: the server would read all that are undelivered.
 */
export const WAITS_FOR_EARLIER = sql<number>`(callbacks.state = 'pending' AND EXISTS (SELECT 1
  FROM callbacks earlier WHERE earlier.transaction_seq = callbacks.transaction_seq
    AND earlier.merchant_seq = callbacks.merchant_seq AND earlier.sequence < callbacks.sequence
    AND COALESCE(earlier.state) IN ('pending', 'held')))`;

/**
 * Base query: callbacks with the ids of their merchant and their transaction or expected payment. The merchant, which each has, is joined from the
 * left: of an inner join the server begins with the few merchants, and sorts all callbacks for one page.
 */
export function selectCallbacks(db: Reader) {
  return db
    .selectFrom('callbacks')
    .leftJoin('merchants', 'merchants.seq', 'callbacks.merchant_seq')
    .leftJoin('transactions', 'transactions.seq', 'callbacks.transaction_seq')
    .leftJoin('expected_payments', (join) =>
      join.on('expected_payments.seq', '=', sql<number>`-callbacks.transaction_seq`),
    )
    .selectAll('callbacks')
    .select((eb) => [eb.ref('merchants.id').$notNull().as('merchant_id'), 'transactions.id as transaction_id'])
    .select(['expected_payments.id as expected_payment_id', WAITS_FOR_EARLIER.as('waits_for_earlier')]);
}

export type CallbackRow = Awaited<ReturnType<ReturnType<typeof selectCallbacks>['execute']>>[number];
export type CallbackQuery = {
  merchant?: string | undefined;
  transactionId?: string | undefined;
  state?: CallbackState | undefined;
  type?: string | undefined;
};

/** @returns a page of callbacks, newest first. */
export async function listCallbacks(
  db: Reader,
  query: CallbackQuery,
  page: { limit: number; before: number | undefined },
): Promise<CallbackRow[]> {
  return selectCallbacks(db)
    .$if(query.merchant !== undefined, (select) => select.where('merchants.id', '=', query.merchant ?? ''))
    .$if(query.transactionId !== undefined, (select) => select.where('transactions.id', '=', query.transactionId ?? ''))
    .$if(query.state !== undefined, (select) => select.where('callbacks.state', '=', query.state ?? ''))
    .$if(query.type !== undefined, (select) => select.where('callbacks.type', '=', query.type ?? ''))
    .$if(page.before !== undefined, (select) => select.where('callbacks.seq', '<', page.before ?? 0))
    .orderBy('callbacks.seq', 'desc')
    .limit(page.limit)
    .execute();
}

/** @returns the callbacks of a transaction to all merchants, in the order of its events. */
export async function listTransactionCallbacks(db: Reader, transactionSeq: number): Promise<CallbackRow[]> {
  return selectCallbacks(db)
    .where('callbacks.transaction_seq', '=', transactionSeq)
    .orderBy('callbacks.sequence')
    .orderBy('callbacks.seq')
    .execute();
}

/** @throws ConfereError `not_found`. */
export async function findCallback(db: Reader, id: string): Promise<CallbackRow> {
  const seq = ID.exec(id)?.[1];
  const row = seq && (await selectCallbacks(db).where('callbacks.seq', '=', Number(seq)).executeTakeFirst());
  if (!row) throw refuse('callback_unknown');
  return row;
}

export type AttemptRow = Selectable<Database['callback_attempts']> & { webhook_id: string };

/** @returns the attempts of a callback, oldest first. */
export async function listAttempts(db: Reader, callbackSeq: number): Promise<AttemptRow[]> {
  return db
    .selectFrom('callback_attempts')
    .innerJoin('callbacks', 'callbacks.seq', 'callback_attempts.callback_seq')
    .selectAll('callback_attempts')
    .select('callbacks.webhook_id')
    .where('callback_seq', '=', callbackSeq)
    .orderBy('callback_attempts.seq')
    .execute();
}
