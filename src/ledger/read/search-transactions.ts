import { sql } from 'kysely';
import type { Keys } from '../../database/keys/settings.ts';
import { READ_TIMEOUT_MS } from '../../database/limit-statement-time.ts';
import type { Reader } from '../../database/reader.ts';
import { inForce } from '../../database/shared/in-force.ts';
import { matchesPlatform } from '../../database/shared/matches-platform.ts';
import {
  selectTransactions,
  type TransactionRow,
  toLedgerTransaction,
} from '../../database/shared/read-transactions.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { ConfereError } from '../../domain/errors.ts';
import { append } from '../../domain/lists.ts';
import { WORD_CHARS_MIN } from '../../domain/person/split-words.ts';
import { NO_PLATFORM } from '../../domain/platform.ts';
import type { LedgerTransaction } from '../../domain/present-transaction.ts';
import { faultOf, refuseFields } from '../../texts/refuse.ts';
import { CANDIDATES_MAX, type Candidates, findCandidates, findWithValue, type RareValue } from './find-candidates.ts';
import { findByWords } from './find-words.ts';
import { type Filter, listFilters } from './list-filters.ts';
import { isSearchTimeout, runWithin, type SearchBudget, startBudget } from './search-budget.ts';
import { intersect, type SearchCursor, type TransactionQuery } from './transaction-query.ts';

/** A search takes no longer, over all of its statements: then the user is asked to narrow it. */
export const SEARCH_MS_MAX = READ_TIMEOUT_MS;

/** Days that a search inside of words may have: a payment changes up to 95 days after its creation. */
export const INSIDE_DAYS_MAX = 95;
export const INSIDE_CHARS_MIN = WORD_CHARS_MIN;

/** Whether a search inside of words may have these days. */
export function areInsideDays({ from, to }: { from?: Day | undefined; to?: Day | undefined }): boolean {
  return from !== undefined && to !== undefined && to < addDays(from, INSIDE_DAYS_MAX);
}

/**
 * Returns matching transactions, newest first by the wall clock that `by` names, in keyset pages. A search inside of words may
 * end within its days, when its time is spent: then a page has fewer rows than its limit, or none, and `next` says where it goes on.
 * @throws ConfereError `invalid_request` when the search exceeds SEARCH_MS_MAX: a narrower range is needed.
 */
export async function searchTransactions(
  db: Reader,
  keys: Keys,
  query: TransactionQuery,
  budget: SearchBudget = startBudget(SEARCH_MS_MAX),
): Promise<{ transactions: LedgerTransaction[]; next: SearchCursor | undefined }> {
  try {
    const { rows, cut } = await readPage(db, keys, query, budget);
    const shown = rows.slice(0, query.limit);
    const last = rows.length > query.limit ? shown.at(-1) : undefined;
    return {
      transactions: shown.map(toLedgerTransaction),
      next: last ? { wall: query.by === 'created' ? last.created_wall : last.status_wall, seq: last.seq } : cut,
    };
  } catch (error) {
    if (isSearchTimeout(error)) throw tooWide(query);
    throw error;
  }
}

/** Reads a page; inside of words day by day, the newest first. @returns `cut`: what is before it was not read. */
async function readPage(
  db: Reader,
  keys: Keys,
  query: TransactionQuery,
  budget: SearchBudget,
): Promise<{ rows: TransactionRow[]; cut?: SearchCursor }> {
  const { inside, from, to, after, limit } = query;
  if (inside === undefined || from === undefined || to === undefined)
    return { rows: await readAny(db, keys, query, budget) };
  const rows: TransactionRow[] = [];
  const start: Day = after === undefined ? to : after.wall.slice(0, 10);
  let day = start;
  try {
    for (; day >= from && rows.length <= limit; day = addDays(day, -1))
      append(rows, await readAny(db, keys, { ...query, from: day, to: day, limit: limit - rows.length }, budget));
  } catch (error) {
    if (day === start || !isSearchTimeout(error)) throw error;
    return { rows, cut: { wall: `${addDays(day, 1)} 00:00:00`, seq: 0 } };
  }
  return { rows };
}

/** Reads the first rows of each alternative, in order, without repetition: one more than the page shows. */
async function readAny(
  db: Reader,
  keys: Keys,
  query: TransactionQuery,
  budget: SearchBudget,
): Promise<TransactionRow[]> {
  const { anyOf, ...base } = query;
  if (anyOf === undefined) return await readRows(db, keys, base, budget);
  const found = new Map<number, TransactionRow>();
  for (const terms of anyOf) {
    const both = intersect(base, terms);
    for (const row of both ? await readRows(db, keys, both, budget) : []) found.set(row.seq, row);
  }
  const wallOf = (row: TransactionRow) => (query.by === 'created' ? row.created_wall : row.status_wall);
  const newestFirst = (a: TransactionRow, b: TransactionRow) =>
    wallOf(a) === wallOf(b) ? b.seq - a.seq : wallOf(a) < wallOf(b) ? 1 : -1;
  return [...found.values()].toSorted(newestFirst).slice(0, query.limit + 1);
}

async function readRows(
  db: Reader,
  keys: Keys,
  query: TransactionQuery,
  budget: SearchBudget,
): Promise<TransactionRow[]> {
  const rows = await readInTurn(db, keys, query, { withheld: false, budget });
  if (rows.length > 0 || query.extra === undefined) return rows;
  // a withheld extra of a forgotten person is stored as the keyed hash of its hash
  return await readInTurn(db, keys, query, { withheld: true, budget });
}

type Options = { withheld?: boolean; budget?: SearchBudget };

/** The newest transactions with the rarest word are read first, enough for as many pages; then each time as many times more. */
const FIRST_PAGES = 4;

/** Reads the newest with the words, then more of them, until the page is full. */
async function readInTurn(db: Reader, keys: Keys, query: TransactionQuery, options: Required<Options>) {
  const { words, by, limit } = query;
  const { budget } = options;
  if (words === undefined || by !== 'created')
    return await runWithin(db, await buildSearch(db, keys, query, options), budget);
  const rows: TransactionRow[] = [];
  let max = Math.min(FIRST_PAGES * (limit + 1), CANDIDATES_MAX);
  for (
    let after = query.after, isMore = true;
    isMore && rows.length <= limit;
    max = Math.min(FIRST_PAGES * max, CANDIDATES_MAX)
  ) {
    const rest = { ...query, after, limit: limit - rows.length };
    const { candidates, next } = await findByWords(db, keys, rest, budget, max);
    append(rows, await runWithin(db, await buildSearch(db, keys, rest, { ...options, ofWords: candidates }), budget));
    after = next;
    isMore = next !== undefined;
  }
  return rows;
}

/** Builds the statement of a search; exported so that a test can explain it. */
export async function buildSearch(
  db: Reader,
  keys: Keys,
  query: TransactionQuery,
  { withheld = false, budget = startBudget(SEARCH_MS_MAX), ofWords }: Options & { ofWords?: Candidates[] } = {},
) {
  // null and literal `none` are ordered separately in the index: match both only if some transaction has the literal
  const hasBoth = query.platform === NO_PLATFORM && (await isNamedNone(db, budget));
  const filters = listFilters(keys, hasBoth ? { ...query, platform: undefined } : query, withheld);
  const ordering = filters.find(({ leads }) => leads === 'both' || leads === query.by);
  const candidates = await findCandidates(db, query, budget);
  append(candidates, ofWords ?? (await findByWords(db, keys, query, budget)).candidates);
  if (query.seqs) candidates.push({ seqs: query.seqs });
  for (const value of listOthers(filters, ordering, query)) candidates.push(await findWithValue(db, value, budget));
  // few rows are read by number and sorted: no index of another value is needed for the order
  const lead = candidates.some(({ seqs }) => seqs) ? undefined : ordering;
  let select = selectTransactions(db);
  for (const { column, value } of filters) {
    // The leading column is written as a range of one value and ordered first: each index ends in wall clock and row
    // number, so it returns a page in order. For an equality, MariaDB reads every equal row and compares the days row
    // by row: 95 % of five million rows for `status=paid`.
    if (value === null) {
      select = select.where(column, 'is', null);
      if (column === lead?.column) select = select.orderBy(column, 'desc');
    } else if (column === lead?.column)
      select = select.where(column, '>=', value).where(column, '<=', value).orderBy(column, 'desc');
    else select = select.where(column, '=', value);
  }
  const { happened, paidWithoutE2eId: unnamed } = query;
  if (happened) {
    const { from, end } = happened;
    const created = sql<boolean>`transactions.created_wall >= ${from} AND transactions.created_wall < ${end}`;
    select = select.where(sql<boolean>`(${created} OR ${wasPaidWithin({ from, end })})`);
  }
  if (unnamed) {
    const isOther = sql`transactions.e2e_id <> ${unnamed.e2eId}
      AND LOWER(CONVERT(transactions.e2e_id USING utf8mb4)) = ${unnamed.e2eId.toLowerCase()}`;
    const isUnnamed = sql<boolean>`(transactions.e2e_id IS NULL OR (${isOther}))`;
    select = select.where('transactions.operation', '=', 'cashin').where(isUnnamed).where(wasPaidWithin(unnamed));
  }
  if (hasBoth) select = select.where(matchesPlatform('transactions.platform', NO_PLATFORM));
  select = orderAndRange(select, query, lead?.column === 'parties.document_hash' ? 'parties' : 'transactions');
  for (const { seqs, condition, ofParty } of candidates) {
    if (seqs) select = select.where('transactions.seq', 'in', seqs.length > 0 ? seqs : [0]);
    // in this join order: scan from the newest transaction and compare names until the page is full
    else if (condition) select = (ofParty ? select.modifyFront(sql`STRAIGHT_JOIN`) : select).where(condition);
  }
  return select;
}

const wasPaidWithin = ({ from, end }: { from: string; end: string }) =>
  wasPaid(sql`AND events.at_wall >= ${from} AND events.at_wall < ${end}`);

/** Whether the transaction of a row was ever paid, by an event in force. @param when further conditions of the event. */
export function wasPaid(when = sql``) {
  return sql<boolean>`EXISTS (SELECT 1 FROM events WHERE events.transaction_seq = transactions.seq
    AND events.status = 'paid' AND ${inForce('events')} = 1 ${when})`;
}

/**
 * The values beside the one whose index has the order of the page: a rare one would be searched for among millions of
 * others. None where the search has a value that hardly any two transactions share.
 */
function listOthers(filters: Filter[], ordering: Filter | undefined, { by, from, to }: TransactionQuery): RareValue[] {
  const days = by === 'created' ? { from, to } : {};
  const others: RareValue[] = [];
  for (const { column, value } of filters) {
    if (column === 'transactions.id' || column === 'transactions.e2e_id') return [];
    if (column === 'transactions.reference') return [];
    if (column !== ordering?.column) others.push({ column, value, ...days });
  }
  return others;
}

/** Whether a transaction's platform is literally `none`. */
async function isNamedNone(db: Reader, budget: SearchBudget): Promise<boolean> {
  const select = db.selectFrom('transactions').select('seq').where('platform', '=', NO_PLATFORM).limit(1);
  return (await runWithin(db, select, budget)).length > 0;
}

type Select = ReturnType<typeof selectTransactions>;
/** Orders by wall clock and row number, with which every index of the search ends, and restricts the range. */
function orderAndRange(matching: Select, query: TransactionQuery, table: 'parties' | 'transactions'): Select {
  // a document's own index is in this order too
  const [created, seq] =
    table === 'parties'
      ? (['parties.created_wall', 'parties.transaction_seq'] as const)
      : (['transactions.created_wall', 'transactions.seq'] as const);
  const wall = query.by === 'created' ? created : 'transactions.status_wall';
  let select = matching
    .orderBy(wall, 'desc')
    .orderBy(seq, 'desc')
    .limit(query.limit + 1);
  if (query.from !== undefined) select = select.where(wall, '>=', `${query.from} 00:00:00`);
  if (query.to !== undefined) select = select.where(wall, '<', `${addDays(query.to, 1)} 00:00:00`);
  const { after } = query;
  if (after) {
    // the first condition lets the index start there
    select = select
      .where(wall, '<=', after.wall)
      .where((eb) => eb.or([eb(wall, '<', after.wall), eb(seq, '<', after.seq)]));
  }
  return select;
}

function tooWide(query: TransactionQuery): ConfereError {
  const names = ['from', 'to', ...(query.name === undefined ? [] : ['name'])];
  return refuseFields(names.map((name) => faultOf(name, 'narrower_days')));
}

/** Whether a search was refused because it takes too long. */
export function isTooWide(error: unknown): boolean {
  return error instanceof ConfereError && error.code === 'invalid_request' && error.fields?.from !== undefined;
}
