import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { countRequest } from '../../merchants/count-request.ts';
import { asksForExpected, type MerchantFilter } from '../../merchants/match-filter.ts';
import { firstWallOf } from '../../merchants/start-backfill.ts';
import { listMissingExpected } from '../expected/enqueue-expected.ts';
import { listMissing } from '../queue/history/list-missing.ts';
import { readExpectedPage, readPage } from './read-page.ts';

/** A caller waits for the count. */
const COUNT_MS_MAX = 20_000;
/** Stands for a merchant that is not there yet. */
const NO_MERCHANT = { seq: 0, id: '' };

export type BackfillCount = {
  callbacks: number;
  transactions: number;
  /** False: the time was up; the count is up to `counted_to`. */
  complete: boolean;
  counted_to: string | null;
};

/**
 * Counts the callbacks that a backfill would enqueue for a merchant with these filters, and writes nothing.
 * @param options.countMsMax after which the count ends, incomplete.
 * @throws ConfereError `too_many_requests`.
 */
export async function countBackfill(
  context: Context,
  merchant: { seq: number; id: string } | undefined,
  options: { filters: readonly MerchantFilter[]; eventsSince: Date; countMsMax?: number },
): Promise<BackfillCount> {
  const { filters, eventsSince, countMsMax = COUNT_MS_MAX } = options;
  const identity = merchant ?? NO_MERCHANT;
  countRequest(context, 'preview', identity.id);
  const droppedTo = await readDroppedTo(context.db, identity.seq);
  const recipient = { ...identity, filters, eventsSince, holds: false, pulls: false, isBackfilling: false, droppedTo };
  const endMs = context.timers.monotonicMs() + countMsMax;
  const count = { callbacks: 0, transactions: 0 };
  let expectedSeq = 0;
  let cursor = { wall: firstWallOf(context, eventsSince), seq: 0 };
  while (!context.signal.aborted && context.timers.monotonicMs() < endMs) {
    const { transactionSeqs, next } = await readPage(context, context.db, eventsSince, cursor);
    const orders = !next && asksForExpected(filters) && (await readExpectedPage(context.db, eventsSince, expectedSeq));
    if (!next && !orders) return { ...count, complete: true, counted_to: null };
    const dueAt = eventsSince;
    const missing = orders
      ? await listMissingExpected(context, context.db, [recipient], orders.expectedSeqs, { dueAt })
      : await listMissing(context, context.db, [recipient], transactionSeqs, { dueAt });
    count.callbacks += missing.length;
    count.transactions += transactionSeqs.length;
    if (next) cursor = next;
    if (orders) expectedSeq = orders.last;
  }
  return { ...count, complete: false, counted_to: context.calendar.toIso(cursor.wall) };
}

/** Up to when callbacks of a merchant were deleted after RETAIN_CALLBACKS; null: none were. */
export async function readDroppedTo(db: Reader, merchantSeq: number): Promise<Date | null> {
  const row = await db
    .selectFrom('merchants')
    .select('callbacks_dropped_to')
    .where('seq', '=', merchantSeq)
    .executeTakeFirst();
  return row?.callbacks_dropped_to ?? null;
}
