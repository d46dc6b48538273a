/**
 * Transactions by beginnings of words. The index of the words ends in the time of creation, so what begins with the rarest word is
 * read and sorted without the rows of the ledger; only the newest are then read and compared with everything else.
 */
import { type RawBuilder, sql } from 'kysely';
import { rangeOfWord } from '../../database/keys/index-person.ts';
import type { Keys } from '../../database/keys/settings.ts';
import type { Reader } from '../../database/reader.ts';
import { addDays } from '../../domain/calendar.ts';
import { splitWords } from '../../domain/person/split-words.ts';
import { CANDIDATES_MAX, type Candidates } from './find-candidates.ts';
import { runWithin, type SearchBudget } from './search-budget.ts';
import type { SearchCursor, TransactionQuery } from './transaction-query.ts';

/** The estimate up to which all words with the rarest beginning are read; of more, the newest transactions are scanned. */
export const WORDS_READ_MAX = 200_000;
/** The estimate up to which another word's transactions are read beside them; a more frequent word is compared one by one. */
const WORDS_JOINED_MAX = 20_000;

type Terms = Pick<TransactionQuery, 'words' | 'by' | 'from' | 'to' | 'after'>;
type Word = {
  range: RawBuilder<unknown>;
  /** How many words are in the range, as the server estimates: MariaDB up to twice too many. */
  rows: number;
};
type FoundByWords = {
  candidates: Candidates[];
  /** Set if there may be candidates after these, and where. */
  next?: SearchCursor | undefined;
};

/**
 * Reads the newest transactions that begin with the rarest word, in the order of a page.
 * @param max of them; undefined: all, if no more than CANDIDATES_MAX have all of the words.
 */
export async function findByWords(
  db: Reader,
  keys: Keys,
  { words, ...terms }: Terms,
  budget: SearchBudget,
  max?: number,
): Promise<FoundByWords> {
  const found: Word[] = [];
  for (const word of splitWords([words ?? null])) {
    const { first, last } = rangeOfWord(keys, word);
    const range = sql`word >= ${first} AND word <= ${last}`;
    // the server estimates from both ends of the range: counting would take as long as the search
    const plan = sql<{ rows: number }>`EXPLAIN FORMAT=TRADITIONAL ${selectSeqs(range)}`;
    const [estimate] = await runWithin(db, { compile: () => plan.compile(db) }, budget);
    found.push({ range, rows: Number(estimate?.rows) });
  }
  const [rarest, ...others] = found.toSorted((a, b) => a.rows - b.rows);
  if (!rarest || rarest.rows > WORDS_READ_MAX) return { candidates: found.map(compareWord) };
  const [joined, compared] = [others.filter(isRare), others.filter((word) => !isRare(word))];
  const conditions = [
    rarest.range,
    ...listDays(terms),
    ...joined.map(({ range }) => sql`transaction_seq IN (${selectSeqs(range)})`),
  ];
  const limit = max ?? CANDIDATES_MAX + 1;
  const select = sql<SearchCursor>`SELECT transaction_seq AS seq, created_wall AS wall
    FROM search_words FORCE INDEX (search_words_word) WHERE ${sql.join(conditions, sql` AND `)}
    ORDER BY created_wall DESC, transaction_seq DESC LIMIT ${sql.lit(limit)}`;
  const rows = await runWithin(db, { compile: () => select.compile(db) }, budget);
  const isWhole = rows.length < limit;
  if (max === undefined && !isWhole) return { candidates: found.map(compareWord) };
  const seqs = [...new Set(rows.map(({ seq }) => seq))];
  return { candidates: [{ seqs }, ...compared.map(compareWord)], next: isWhole ? undefined : rows.at(-1) };
}

const selectSeqs = (range: Word['range']) =>
  sql`SELECT transaction_seq FROM search_words FORCE INDEX (search_words_word) WHERE ${range}`;

const isRare = ({ rows }: Word) => rows <= WORDS_JOINED_MAX;

/** Compares a transaction's own words: the server may choose to read all that begin so. Scalar, as of a merchant. */
function compareWord({ range }: Word): Candidates {
  const condition = sql<boolean>`(SELECT 1 FROM search_words FORCE INDEX (PRIMARY)
    WHERE transaction_seq = transactions.seq AND ${range} LIMIT 1) = 1`;
  return { seqs: undefined, condition };
}

function listDays({ by, from, to, after }: Terms) {
  if (by !== 'created') return [];
  return [
    ...(from === undefined ? [] : [sql`created_wall >= ${`${from} 00:00:00`}`]),
    ...(to === undefined ? [] : [sql`created_wall < ${`${addDays(to, 1)} 00:00:00`}`]),
    ...(after === undefined
      ? []
      : [sql`(created_wall < ${after.wall} OR (created_wall = ${after.wall} AND transaction_seq < ${after.seq}))`]),
  ];
}
