import type { Context } from '../../context.ts';
import type { WallTime } from '../../domain/calendar.ts';
import type { Operation } from '../../domain/statuses.ts';
import { type MerchantFilter, matchesFilters } from '../../merchants/match-filter.ts';
import { mapInTurns } from '../../runtime/take-turns.ts';
import { type Allowed, readPreviewedEvents } from './read-previewed-events.ts';

const EXAMPLES_MAX = 8;

export type FilterPreview = {
  /** Events read, of the last PREVIEW_DAYS days. */
  events: number;
  /** False: there are more events in these days. */
  complete: boolean;
  matched: number;
  /** How many the filters of today match; of these and those, how many only one of both does. */
  before?: { matched: number; gained: number; lost: number };
  /** The newest events whose fate changes; without filters of today, the newest that match. */
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
 * Returns which of the last events the filters of a merchant would have matched: each event has to match all of them. It
 * uses what the ledger knows of a transaction now.
 * @param options.before the filters of today, to compare with.
 * @param options.allowed the events that may be read and counted; default: all.
 */
export async function previewFilter(
  context: Context,
  filters: readonly MerchantFilter[],
  { before, allowed }: { before?: readonly MerchantFilter[] | undefined; allowed?: Allowed } = {},
): Promise<FilterPreview> {
  const { rows, complete } = await readPreviewedEvents(context, allowed);
  const preview: FilterPreview = { events: rows.length, complete, matched: 0, examples: [] };
  const compared = { matched: 0, gained: 0, lost: 0 };
  await mapInTurns(rows, (row) => {
    const isMatched = matchesFilters(filters, row);
    const was = before ? matchesFilters(before, row) : false;
    if (isMatched) preview.matched++;
    if (was) compared.matched++;
    if (isMatched && !was) compared.gained++;
    if (!isMatched && was) compared.lost++;
    if (isMatched === was || preview.examples.length >= EXAMPLES_MAX) return;
    const { id: transactionId, operation, status, at_wall: at, amount_cents: amountCents } = row;
    preview.examples.push({ transactionId, operation, status, at, amountCents, isMatched });
  });
  return before ? { ...preview, before: compared } : preview;
}
