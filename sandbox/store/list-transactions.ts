import type { Switches } from '../faults/switches.ts';
import { type DayCount, readDayCounts } from './count-days.ts';
import { dayBounds, hasDatesOnly, inOrder, type ListFilter, narrow, type Rows } from './narrow-list.ts';
import { readEvents } from './read-transactions.ts';
import type { Database, KnownTransaction } from './tables.ts';

export const PAGE_SIZE = 100;

type Page = { total: number; sequences: number[] };

/**
 * One page of the list and the exact number of all that match. Keys are looked for first, in the index alone, and
 * only a page's hundred rows are read. A list without filters but dates knows from the counts of its days how many
 * there are and on which day the page begins, so no page reads more keys than one day has.
 */
export async function listTransactions(
  db: Database,
  filter: ListFilter,
  page: number,
  switches: Switches,
): Promise<{ transactions: KnownTransaction[]; total: number }> {
  const { order } = switches.list;
  const isByDay = (order === 'created_desc' || order === 'created_asc') && hasDatesOnly(filter);
  const offset = (page - 1) * PAGE_SIZE;
  const found = isByDay
    ? await findByDay(db, filter, offset, switches)
    : await findByScan(db, filter, offset, switches);
  return { total: found.total, transactions: await readInOrder(db, found.sequences) };
}

async function findByScan(db: Database, filter: ListFilter, offset: number, switches: Switches): Promise<Page> {
  const matching = narrow(listed(db), filter, switches.list);
  const counted = matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const [{ total }, sequences] = await Promise.all([counted, readKeys(matching, offset, switches)]);
  return { total, sequences };
}

async function findByDay(db: Database, filter: ListFilter, offset: number, switches: Switches): Promise<Page> {
  const { order, dates } = switches.list;
  const bounds = dayBounds(filter, dates);
  const days = await readDayCounts(db, bounds.from, bounds.to);
  const total = days.reduce((sum, { count }) => sum + count, 0);
  const start = placeOf(order === 'created_asc' ? days : days.toReversed(), offset);
  if (start === undefined) return { total, sequences: [] };
  const [from, to] = order === 'created_asc' ? [start.day, bounds.to] : [bounds.from, start.day];
  let rest = listed(db);
  if (from !== undefined) rest = rest.where('created_wall', '>=', `${from} 00:00:00`);
  if (to !== undefined) rest = rest.where('created_wall', '<=', `${to} 23:59:59`);
  return { total, sequences: await readKeys(rest, start.offset, switches) };
}

/** The day on which a row so far down the list lies, and how far down that day; undefined past the end. */
function placeOf(days: readonly DayCount[], offset: number): { day: string; offset: number } | undefined {
  let left = offset;
  for (const { day, count } of days) {
    if (left < count) return { day, offset: left };
    left -= count;
  }
  return undefined;
}

function listed(db: Database): Rows {
  return db.selectFrom('transactions').where('listed', '=', 1);
}

async function readKeys(matching: Rows, offset: number, { list }: Switches): Promise<number[]> {
  const keys = await inOrder(matching, list.order).select('seq').limit(PAGE_SIZE).offset(offset).execute();
  return keys.map(({ seq }) => seq);
}

async function readInOrder(db: Database, sequences: readonly number[]): Promise<KnownTransaction[]> {
  if (sequences.length === 0) return [];
  const [rows, events] = await Promise.all([
    db.selectFrom('transactions').selectAll().where('seq', 'in', sequences).execute(),
    readEvents(db, sequences),
  ]);
  const bySeq = new Map(rows.map((row) => [row.seq, { ...row, events: events.get(row.seq) ?? [] }]));
  return sequences.flatMap((seq) => bySeq.get(seq) ?? []);
}
