/**
 * Looks many transactions up at once, in the list pages of their days, as far as that is cheaper than one show for
 * each (see `isReadingCheaper`). The day is the ledger's where it knows the transaction, else what the webhook claims.
 * A wrong day does no harm: only what a page holds counts, nothing is concluded from what it lacks, and what was not
 * met is shown one by one.
 */
import type { Context } from '../../context.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { describeError } from '../../log.ts';
import type { ProviderClient } from '../../provider/client.ts';
import type { ClaimedItem } from '../items/claim-items.ts';
import type { FetchResult } from '../items/fetch-transaction.ts';
import { isListCheaper } from './compare-costs.ts';
import { parseClaimedDays } from './parse-claimed-days.ts';

const PAGE_ROWS = 100;
const CHUNK = 500;

/** @returns what was met, by the lower-case id of the transaction. */
export async function lookUpByDays(
  context: Context,
  client: ProviderClient,
  items: ClaimedItem[],
): Promise<Map<string, FetchResult>> {
  const found = new Map<string, FetchResult>();
  const days = await findDays(context, items);
  const byDay = Map.groupBy(days.keys(), (id) => days.get(id) ?? '');
  try {
    for (const [day, ids] of byDay) await readDay(client, day, new Set(ids), found);
  } catch (error) {
    context.log.warn({ error: describeError(error) }, 'the list could not be read for a burst: the rest is shown');
  }
  return found;
}

async function readDay(
  client: ProviderClient,
  day: Day,
  left: Set<string>,
  found: Map<string, FetchResult>,
): Promise<void> {
  // how dates bound a range differs: where the day alone brings nothing, it lies within the days around it
  for (const [initialDate, finalDate] of [
    [day, day],
    [addDays(day, -1), addDays(day, 1)],
  ] as const) {
    const reading = { ids: left.size, pages: 1, pagesWithoutMatch: 0 };
    let total = 0;
    for (let page = 1; isListCheaper(reading); page++) {
      const answer = await client.listPage({ initialDate, finalDate }, page);
      if (!answer) break;
      total = answer.total;
      const before = left.size;
      for (const row of answer.rows) {
        if (row.ok && left.delete(row.transaction.id.toLowerCase()))
          found.set(row.transaction.id.toLowerCase(), {
            kind: 'row',
            row: { ...row, askedAt: answer.askedAt },
          });
      }
      reading.ids = left.size;
      reading.pages = Math.ceil(total / PAGE_ROWS) - page;
      reading.pagesWithoutMatch = left.size < before ? 0 : reading.pagesWithoutMatch + 1;
    }
    if (total > 0) return;
  }
}

/** The day on which each transaction was created: surely where the ledger has it, else as its webhook claims. */
async function findDays(context: Context, items: ClaimedItem[]): Promise<Map<string, Day>> {
  const wanted = new Map(items.flatMap((item) => (item.transactionId ? [[item.transactionId, item.webhookSeq]] : [])));
  const days = new Map<string, Day>();
  const ids = [...wanted.keys()];
  for (let start = 0; start < ids.length; start += CHUNK) {
    const chunk = ids.slice(start, start + CHUNK);
    const known = await context.db
      .selectFrom('transactions')
      .select(['id', 'created_wall'])
      .where('id', 'in', chunk)
      .execute();
    for (const row of known) days.set(row.id.toLowerCase(), row.created_wall.slice(0, 10));
    const seqs = chunk.filter((id) => !days.has(id)).map((id) => wanted.get(id) ?? 0);
    if (seqs.length === 0) continue;
    const bodies = await context.db.selectFrom('webhooks').select('body').where('seq', 'in', seqs).execute();
    for (const { body } of bodies)
      for (const [id, day] of parseClaimedDays(body)) if (wanted.has(id) && !days.has(id)) days.set(id, day);
  }
  return days;
}
