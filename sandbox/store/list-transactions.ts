import type { Switches } from '../faults/switches.ts';
import {
  applyFilter,
  applyOrder,
  dayBounds,
  hasDatesOnly,
  type ListFilter,
  type TransactionsQuery,
} from './filter-list.ts';
import { inSnapshot, withEvents } from './read-transactions.ts';
import type { Database, StoredTransaction } from './tables.ts';
import { type HourCount, readHourCounts } from './update-hour-counts.ts';

export const PAGE_SIZE = 100;

type Page = { total: number; sequences: number[] };

/**
 * Returns one page of the list and the exact number of matching transactions. It selects the keys from the index alone, then
 * reads the rows of the page. With no filter but dates, the hour counts give the total and the hour in which the page
 * begins, so no page reads more keys than one hour has.
 */
export async function listTransactions(
  db: Database,
  filter: ListFilter,
  page: number,
  switches: Switches,
): Promise<{ transactions: StoredTransaction[]; total: number }> {
  const { order } = switches.list;
  const isByHour = (order === 'created_desc' || order === 'created_asc') && hasDatesOnly(filter);
  const offset = (page - 1) * PAGE_SIZE;
  const found = isByHour
    ? await findByHour(db, filter, offset, switches)
    : await findByScan(db, filter, offset, switches);
  return { total: found.total, transactions: await readInOrder(db, found.sequences) };
}

async function findByScan(db: Database, filter: ListFilter, offset: number, switches: Switches): Promise<Page> {
  const matching = applyFilter(listed(db), filter, switches.list);
  const counted = matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const [{ total }, sequences] = await Promise.all([counted, readKeys(matching, offset, switches)]);
  return { total, sequences };
}

async function findByHour(db: Database, filter: ListFilter, offset: number, switches: Switches): Promise<Page> {
  const { order, dates } = switches.list;
  const bounds = dayBounds(filter, dates);
  const hours = await readHourCounts(db, bounds.from, bounds.to);
  const total = hours.reduce((sum, { count }) => sum + count, 0);
  const start = findPosition(order === 'created_asc' ? hours : hours.toReversed(), offset);
  if (start === undefined) return { total, sequences: [] };
  const ends = { from: bounds.from && `${bounds.from} 00`, to: bounds.to && `${bounds.to} 23` };
  const { from, to } = order === 'created_asc' ? { ...ends, from: start.hour } : { ...ends, to: start.hour };
  let rest = listed(db);
  if (from !== undefined) rest = rest.where('created_wall', '>=', `${from}:00:00`);
  if (to !== undefined) rest = rest.where('created_wall', '<=', `${to}:59:59`);
  return { total, sequences: await readKeys(rest, start.offset, switches) };
}

/** Returns the hour of the row at `offset`, and the offset within that hour; undefined past the end. */
function findPosition(hours: readonly HourCount[], offset: number): { hour: string; offset: number } | undefined {
  let left = offset;
  for (const { hour, count } of hours) {
    if (left < count) return { hour, offset: left };
    left -= count;
  }
  return undefined;
}

function listed(db: Database): TransactionsQuery {
  return db.selectFrom('transactions').where('listed', '=', 1);
}

async function readKeys(matching: TransactionsQuery, offset: number, { list }: Switches): Promise<number[]> {
  const keys = await applyOrder(matching, list.order).select('seq').limit(PAGE_SIZE).offset(offset).execute();
  return keys.map(({ seq }) => seq);
}

async function readInOrder(db: Database, sequences: readonly number[]): Promise<StoredTransaction[]> {
  if (sequences.length === 0) return [];
  const transactions = await inSnapshot(db, async (snapshot) =>
    withEvents(snapshot, await snapshot.selectFrom('transactions').selectAll().where('seq', 'in', sequences).execute()),
  );
  const bySeq = new Map(transactions.map((one) => [one.seq, one]));
  return sequences.flatMap((seq) => bySeq.get(seq) ?? []);
}
