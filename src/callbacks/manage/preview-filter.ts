import type { Context } from '../../context.ts';
import { limitStatementTime } from '../../database/limit-statement-time.ts';
import type { WallTime } from '../../domain/calendar.ts';
import type { Operation } from '../../domain/statuses.ts';
import { type MerchantFilter, matchesFilter } from '../../merchants/match-filter.ts';

export const PREVIEW_DAYS = 7;
/** Events that a preview reads: the newest ones, in about 30 ms. */
const EVENTS_MAX = 5000;
const EXAMPLES_MAX = 8;

export type FilterPreview = {
  /** Events read, of the last PREVIEW_DAYS days. */
  events: number;
  /** False: there are more events in these days. */
  complete: boolean;
  matched: number;
  /** How many the filter of today matches; of these and those, how many only one of both does. */
  before?: { matched: number; gained: number; lost: number };
  /** The newest events whose fate changes; without a filter of today, the newest that match. */
  examples: PreviewedEvent[];
};
export type PreviewedEvent = {
  transactionId: string;
  operation: Operation;
  status: string;
  at: WallTime;
  amountCents: bigint;
  isMatched: boolean;
};

/**
 * Returns which of the last events a filter would have matched. It uses what the ledger knows of a transaction now.
 * @param before the filter of today, to compare with.
 */
export async function previewFilter(
  context: Context,
  filter: MerchantFilter,
  before?: MerchantFilter,
): Promise<FilterPreview> {
  const rows = await readEvents(context);
  const preview: FilterPreview = { events: rows.length, complete: rows.length < EVENTS_MAX, matched: 0, examples: [] };
  const compared = { matched: 0, gained: 0, lost: 0 };
  for (const row of rows) {
    const facts = { ...row, operation: row.operation as Operation };
    const isMatched = matchesFilter(filter, facts);
    const was = before ? matchesFilter(before, facts) : false;
    if (isMatched) preview.matched++;
    if (was) compared.matched++;
    if (isMatched && !was) compared.gained++;
    if (!isMatched && was) compared.lost++;
    if (isMatched === was || preview.examples.length >= EXAMPLES_MAX) continue;
    const { id: transactionId, status, at_wall: at, amount_cents: amountCents } = row;
    preview.examples.push({ transactionId, operation: facts.operation, status, at, amountCents, isMatched });
  }
  return before ? { ...preview, before: compared } : preview;
}

async function readEvents({ db, clock, calendar }: Context) {
  const since = calendar.toWallTime(new Date(clock.now().getTime() - PREVIEW_DAYS * 86_400_000));
  return limitStatementTime(db)
    .selectFrom('events')
    .innerJoin('transactions', 'transactions.seq', 'events.transaction_seq')
    .select(['events.status', 'events.at_wall', 'transactions.id', 'operation', 'platform', 'reference', 'extra'])
    .select('amount_cents')
    .where('events.at_wall', '>=', since)
    .orderBy('events.at_wall', 'desc')
    .limit(EVENTS_MAX)
    .execute();
}
