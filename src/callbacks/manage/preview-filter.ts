import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import type { WallTime } from '../../domain/calendar.ts';
import { splitList } from '../../domain/lists.ts';
import { NO_PLATFORM } from '../../domain/platform.ts';
import type { Operation } from '../../domain/statuses.ts';
import { type MerchantFilter, matchesFilters } from '../../merchants/match-filter.ts';
import { mapInTurns } from '../../runtime/take-turns.ts';
import { type Allowed, type PreviewedRow, readPreviewedEvents } from './read-previewed-events.ts';

const EXAMPLES_MAX = 8;
/** Values of a list that the preview offers in place of one that no event has. */
const SEEN_MAX = 12;
/** Transactions of one statement. */
const TRANSACTIONS_MAX = 1_000;

const VALUE_OF = {
  platforms: ({ platform }: PreviewedRow) => platform ?? NO_PLATFORM,
  operations: ({ operation }: PreviewedRow) => operation,
  statuses: ({ status }: PreviewedRow) => status,
} as const;
type List = keyof typeof VALUE_OF;
type Values = Partial<Record<List, string[]>>;

type Before = { seq: number; filters: readonly MerchantFilter[] };
export type FilterPreview = {
  /** Events read, of the last PREVIEW_DAYS days. */
  events: number;
  /** False: there are more events in these days. */
  complete: boolean;
  matched: number;
  /** How many the filters of today match; of these and those, how many only one of both does. `had`: of `gained`, messages that are there already. */
  before?: { matched: number; gained: number; lost: number; had: number };
  /** By list, the values of the filters that none of these events has. */
  unseen: Values;
  /** The values that the events have, of those lists. */
  seen: Values;
  /** The newest events whose fate changes; without filters of today, the newest that match. */
  examples: PreviewedEvent[];
};
type PreviewedEvent = {
  transactionId: string;
  operation: Operation;
  status: string;
  at: WallTime;
  amountCents: bigint;
  isMatched: boolean;
  /** Its message was sent already, or waits. */
  isThere: boolean;
};

/**
 * Returns which of the last events the filters of a merchant would have matched: each event has to match all of them. It
 * uses what the ledger knows of a transaction now.
 * @param options.before a merchant and its filters of today, to compare with.
 * @param options.allowed the events that may be read and counted; default: all.
 */
export async function previewFilter(
  context: Context,
  filters: readonly MerchantFilter[],
  { before, allowed }: { before?: Before | undefined; allowed?: Allowed } = {},
): Promise<FilterPreview> {
  const { rows, complete } = await readPreviewedEvents(context, allowed);
  const preview: FilterPreview = {
    ...{ events: rows.length, complete, matched: 0, examples: [] },
    ...compareValues(filters, rows),
  };
  const gained: PreviewedRow[] = [];
  const changed: { row: PreviewedRow; isMatched: boolean }[] = [];
  const compared = { matched: 0, gained: 0, lost: 0, had: 0 };
  await mapInTurns(rows, (row) => {
    const isMatched = matchesFilters(filters, row);
    const was = before ? matchesFilters(before.filters, row) : false;
    if (isMatched) preview.matched++;
    if (was) compared.matched++;
    if (isMatched && !was) gained.push(row);
    if (!isMatched && was) compared.lost++;
    if (isMatched !== was && changed.length < EXAMPLES_MAX) changed.push({ row, isMatched });
  });
  const there = before ? await findThere(context.db, before.seq, gained) : new Set();
  preview.examples = changed.map(({ row, isMatched }) => {
    const { id: transactionId, operation, status, at_wall: at, amount_cents: amountCents, event_seq: seq } = row;
    return { transactionId, operation, status, at, amountCents, isMatched, isThere: there.has(seq) };
  });
  return before ? { ...preview, before: { ...compared, gained: gained.length, had: there.size } } : preview;
}

/** Finds the events of which a merchant has a message, such as of a wider filter before. */
async function findThere(db: Reader, merchantSeq: number, rows: PreviewedRow[]): Promise<Set<number>> {
  const wanted = new Set(rows.map((row) => row.event_seq));
  const there = new Set<number>();
  for (const some of splitList([...new Set(rows.map((row) => row.transaction_seq))], TRANSACTIONS_MAX)) {
    const found = await db
      .selectFrom('callbacks')
      .select('event_seq')
      .where('transaction_seq', 'in', some)
      .where('merchant_seq', '=', merchantSeq)
      .execute();
    for (const { event_seq: seq } of found) if (seq !== null && wanted.has(seq)) there.add(seq);
  }
  return there;
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
