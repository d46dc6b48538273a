/**
 * Finds many transactions at once in the list pages of their days, as far as that is cheaper than one show for each
 * (see isListCheaper). The day is the ledger's where it knows the transaction, else the one that the webhook claims. A
 * wrong day does no harm: only rows on the pages count, and transactions that were not found are fetched by id.
 */
import type { Context } from '../../context.ts';
import { addDays, type Day, isWallTime } from '../../domain/calendar.ts';
import { describeError } from '../../log.ts';
import type { ProviderClient } from '../../provider/client.ts';
import type { ClaimedItem } from '../items/claim-items.ts';
import type { FetchResult } from '../items/fetch-transaction.ts';
import { checkBody } from '../receive/check-body.ts';

const PAGE_ROWS = 100;
const IDS_A_QUERY = 500;
/** A page of 100 rows with their histories costs the provider, and us, about as much as this many shows. */
export const SHOWS_PER_PAGE = 4;
/** The share of the shows' cost that may be spent on consecutive pages without a match. */
const PAGES_WITHOUT_MATCH_SHARE_MAX = 0.25;

/** @returns the rows found, by the lower-case id of the transaction. */
export async function findInDayPages(
  context: Context,
  client: ProviderClient,
  items: ClaimedItem[],
): Promise<Map<string, FetchResult>> {
  const found = new Map<string, FetchResult>();
  const days = await findDays(context, items);
  const byDay = Map.groupBy(days, ([, day]) => day);
  try {
    for (const [day, of] of byDay) await readDay(client, day, new Set(of.map(([id]) => id)), found);
  } catch (error) {
    context.log.warn({ error: describeError(error) }, 'reading the list for a burst failed; fetching the rest by id');
  }
  return found;
}

export type DayProgress = {
  /** Distinct ids of this day that were not found yet. */
  ids: number;
  /** Pages of the day that were not read yet. */
  pages: number;
  /** Consecutive pages that held none of the ids. */
  pagesWithoutMatch: number;
};

/**
 * Whether reading on in the list of a day is cheaper than one show for each id. Pure.
 *
 * The rest of the day costs `pages × SHOWS_PER_PAGE` and finds all ids of this day; the shows cost `ids`. It is decided
 * again after each page, with the page's total, so a wrong first guess costs one page at most. A day of 2,000
 * transactions (20 pages) is read for more than 80 ids, a day of 100,000 for more than 4,000. Where the ids are spread
 * evenly both sides shrink alike. A wrong day is given up after a quarter of the shows' cost.
 */
export function isListCheaper({ ids, pages, pagesWithoutMatch }: DayProgress): boolean {
  const isCheaper = pages > 0 && pages * SHOWS_PER_PAGE < ids;
  return isCheaper && pagesWithoutMatch * SHOWS_PER_PAGE <= PAGES_WITHOUT_MATCH_SHARE_MAX * ids;
}

async function readDay(
  client: ProviderClient,
  day: Day,
  left: Set<string>,
  found: Map<string, FetchResult>,
): Promise<void> {
  // providers bound ranges differently: where the day alone brings nothing, it lies within the days around it
  for (const [initialDate, finalDate] of [
    [day, day],
    [addDays(day, -1), addDays(day, 1)],
  ] as const) {
    const progress = { ids: left.size, pages: 1, pagesWithoutMatch: 0 };
    let total = 0;
    for (let page = 1; isListCheaper(progress); page++) {
      const answer = await client.listPage({ initialDate, finalDate }, page);
      if (!answer) break;
      total = answer.total;
      const before = left.size;
      for (const row of answer.rows) {
        const id = row.ok ? row.transaction.id.toLowerCase() : '';
        if (left.delete(id)) found.set(id, { kind: 'row', rows: [{ ...row, askedAt: answer.askedAt }] });
      }
      progress.ids = left.size;
      progress.pages = Math.ceil(total / PAGE_ROWS) - page;
      progress.pagesWithoutMatch = left.size < before ? 0 : progress.pagesWithoutMatch + 1;
    }
    if (total > 0) return;
  }
}

/** The creation day of each transaction: exact where the ledger has it, else as its webhook claims. */
async function findDays(context: Context, items: ClaimedItem[]): Promise<Map<string, Day>> {
  const webhookSeqs = new Map<string, number>();
  for (const { transactionId, webhookSeq } of items) if (transactionId) webhookSeqs.set(transactionId, webhookSeq);
  const days = new Map<string, Day>();
  const ids = [...webhookSeqs.keys()];
  for (let start = 0; start < ids.length; start += IDS_A_QUERY) {
    const chunk = ids.slice(start, start + IDS_A_QUERY);
    const known = await context.db
      .selectFrom('transactions')
      .select(['id', 'created_wall'])
      .where('id', 'in', chunk)
      .execute();
    for (const row of known) days.set(row.id.toLowerCase(), row.created_wall.slice(0, 10));
    const seqs = chunk.flatMap((id) => (days.has(id) ? [] : (webhookSeqs.get(id) ?? [])));
    if (seqs.length === 0) continue;
    const bodies = await context.db.selectFrom('webhooks').select('body').where('seq', 'in', seqs).execute();
    for (const { body } of bodies)
      for (const [id, day] of parseClaimedDays(body)) if (webhookSeqs.has(id) && !days.has(id)) days.set(id, day);
  }
  return days;
}

/**
 * For each id in a webhook's body, the day of the `date_created` beside it. It is a claim, and may be the event's date:
 * it only chooses which day to read first.
 */
export function parseClaimedDays(body: Buffer): Map<string, Day> {
  const days = new Map<string, Day>();
  const queue: unknown[] = [checkBody(body).value];
  // grows while it is read
  for (const value of queue) {
    if (typeof value !== 'object' || value === null) continue;
    const fields = new Map(Object.entries(value));
    const created = fields.get('date_created');
    for (const id of [fields.get('transaction_id'), fields.get('id')]) {
      if (typeof id === 'string' && typeof created === 'string' && isWallTime(created))
        days.set(id.toLowerCase(), created.slice(0, 10));
    }
    for (const one of fields.values()) queue.push(one);
  }
  return days;
}
