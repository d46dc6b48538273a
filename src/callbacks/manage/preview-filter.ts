import type { Context } from '../../context.ts';
import type { WallTime } from '../../domain/calendar.ts';
import { NO_PLATFORM } from '../../domain/platform.ts';
import type { Operation } from '../../domain/statuses.ts';
import { type MerchantFilter, matchesFilters } from '../../merchants/match-filter.ts';
import { mapInTurns } from '../../runtime/take-turns.ts';
import { type Allowed, type PreviewedRow, readPreviewedEvents } from './read-previewed-events.ts';

const EXAMPLES_MAX = 8;
/** Values of a list that the preview offers in place of one that no event has. */
const SEEN_MAX = 12;

const VALUE_OF = {
  platforms: ({ platform }: PreviewedRow) => platform ?? NO_PLATFORM,
  operations: ({ operation }: PreviewedRow) => operation,
  statuses: ({ status }: PreviewedRow) => status,
} as const;
type List = keyof typeof VALUE_OF;
type Values = Partial<Record<List, string[]>>;

export type FilterPreview = {
  /** Events read, of the last PREVIEW_DAYS days. */
  events: number;
  /** False: there are more events in these days. */
  complete: boolean;
  matched: number;
  /** How many the filters of today match; of these and those, how many only one of both does. */
  before?: { matched: number; gained: number; lost: number };
  /** By list, the values of the filters that none of these events has. */
  unseen: Values;
  /** The values that the events have, of those lists. */
  seen: Values;
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
  const preview: FilterPreview = {
    ...{ events: rows.length, complete, matched: 0, examples: [] },
    ...compareValues(filters, rows),
  };
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

/** Compares the values of the filters' lists with those of the events. Without events it says nothing of any value. */
function compareValues(
  filters: readonly MerchantFilter[],
  rows: PreviewedRow[],
): Pick<FilterPreview, 'unseen' | 'seen'> {
  const found: Pick<FilterPreview, 'unseen' | 'seen'> = { unseen: {}, seen: {} };
  for (const [list, read] of Object.entries(VALUE_OF) as [List, (row: PreviewedRow) => string][]) {
    const values = new Set(filters.flatMap((filter) => filter[list]));
    const seen = new Set(values.size === 0 ? [] : rows.map(read));
    const unseen = [...values].filter((value) => !seen.has(value));
    if (rows.length === 0 || unseen.length === 0) continue;
    found.unseen[list] = unseen;
    found.seen[list] = [...seen].sort().slice(0, SEEN_MAX);
  }
  return found;
}
