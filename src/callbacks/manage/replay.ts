import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import type { Operation } from '../../domain/statuses.ts';
import { checkFilter } from '../../merchants/check-filter.ts';
import { countRequest } from '../../merchants/limit-rates.ts';
import { completeFilter, type FilterInput, matchesFilter } from '../../merchants/match-filter.ts';
import { findMerchant } from '../../merchants/read-merchants.ts';
import { assertConfirmed, assertDelivers } from './redeliver.ts';

const ROWS_MAX = 1000;

export type ReplayRequest = {
  merchant: string;
  /** Range of the callbacks' creation; `to` is excluded. */
  from: Date;
  to: Date;
  filter?: FilterInput | undefined;
  states?: Array<'delivered' | 'failed'> | undefined;
  dryRun: boolean;
};

/**
 * Makes delivered and failed callbacks of a range due once more, under their old webhook-ids, in order for each
 * transaction. Pending and held ones are left out: they will be sent anyway.
 * @param inPart runs the change of each part of at most 1,000 callbacks, in a transaction of its own.
 * @returns how many callbacks; with `dryRun` how many it would be.
 * @throws ConfereError `invalid_request` for a filter beyond its limits; `too_many_requests`.
 */
export async function replay(
  context: Context,
  request: ReplayRequest,
  inPart: (count: number, change: (context: Context) => Promise<void>) => Promise<void> = (_count, change) =>
    change(context),
): Promise<number> {
  const merchant = await findMerchant(context.db, request.merchant);
  if (!request.dryRun) {
    assertDelivers(merchant);
    await assertConfirmed(context.db);
  }
  countRequest(context, 'replay', request.merchant);
  checkFilter(request.filter ?? {});
  const filter = completeFilter(request.filter);
  let count = 0;
  for (let after = 0; ; ) {
    const rows = await readChunk(context.db, merchant.seq, request, after);
    const chosen = rows.filter((row) =>
      // a correction has no event: the filter uses the transaction's status
      matchesFilter(filter, {
        ...row,
        operation: row.operation as Operation,
        status: row.status ?? row.current_status,
      }),
    );
    const seqs = chosen.map((row) => row.seq);
    if (!request.dryRun && seqs.length > 0) await inPart(seqs.length, (inner) => makeDue(inner, seqs));
    count += seqs.length;
    const last = rows.at(-1);
    if (!last || rows.length < ROWS_MAX) break;
    after = last.seq;
  }
  if (!request.dryRun) context.wakeUps.callbacks.notify();
  return count;
}

function readChunk(db: Reader, merchantSeq: number, request: ReplayRequest, after: number) {
  return db
    .selectFrom('callbacks')
    .innerJoin('transactions', 'transactions.seq', 'callbacks.transaction_seq')
    .leftJoin('events', 'events.seq', 'callbacks.event_seq')
    .select(['callbacks.seq', 'events.status', 'transactions.operation', 'transactions.platform'])
    .select(['transactions.reference', 'transactions.extra', 'transactions.status as current_status'])
    .where('callbacks.merchant_seq', '=', merchantSeq)
    .where('callbacks.created_at', '>=', request.from)
    .where('callbacks.created_at', '<', request.to)
    .where('callbacks.state', 'in', request.states ?? ['delivered', 'failed'])
    .where('callbacks.seq', '>', after)
    .orderBy('callbacks.seq')
    .limit(ROWS_MAX)
    .execute();
}

async function makeDue(context: Context, seqs: number[]): Promise<void> {
  await context.db
    .updateTable('callbacks')
    .set({ state: 'pending', step: 0, first_failed_at: null, next_attempt_at: context.clock.now() })
    .where('seq', 'in', seqs)
    .where('state', 'in', ['delivered', 'failed'])
    .execute();
}
