/** Transactions of a day by words of their name, which are read in batches: a name that is missing must be seen too. */
import { sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import { inForce } from '../../database/shared/in-force.ts';
import { TEXT_BYTES_MAX, truncateText } from '../../domain/field-limits.ts';
import { splitList } from '../../domain/lists.ts';
import { foldName } from '../../domain/person/fold-person.ts';
import { splitWords } from '../../domain/person/split-words.ts';
import { CANDIDATES_MAX } from './find-candidates.ts';
import { isSearchTimeout, runWithin, startBudget } from './search-budget.ts';
import { SEARCH_MS_MAX, wasPaid } from './search-transactions.ts';
import type { TransactionQuery } from './transaction-query.ts';

/** A name is compared with the names of this many transactions; what the others are called stays unknown. */
export const NAMES_COMPARED_MAX = 50_000;
const BATCH_ROWS = 1_000;

type Terms = Pick<TransactionQuery, 'amountCents' | 'e2eId'> & Required<Pick<TransactionQuery, 'name' | 'happened'>>;
type Found = {
  /** Row numbers of at most CANDIDATES_MAX, the newest. */
  seqs: number[];
  /** Whether one without a name was paid. */
  isAnyHidden: boolean;
  /** Whether all names were compared, within NAMES_COMPARED_MAX and SEARCH_MS_MAX. */
  isWhole: boolean;
};

/** Finds transactions whose name has all these words by their beginnings, as the search does: of an end-to-end id, else created or paid in a span. */
export async function findNamed(db: Reader, { name = '', ...terms }: Terms, max = NAMES_COMPARED_MAX): Promise<Found> {
  const budget = startBudget(SEARCH_MS_MAX);
  const isNamed = matchName(name);
  const found: Found = { seqs: [], isAnyHidden: false, isWhole: false };
  try {
    const selects = selectSeqs(db, terms, max + 1);
    const listed: number[] = [];
    for (const select of selects) for (const { seq } of await runWithin(db, select, budget)) listed.push(seq);
    const seqs = [...new Set(listed)].sort((a, b) => a - b);
    for (const some of splitList(seqs.slice(0, max), BATCH_ROWS)) {
      const rows = await runWithin(db, selectNames(db, some), budget);
      const named = rows.filter((row) => row.name !== null && isNamed(row.name));
      found.seqs = [...found.seqs, ...named.map(({ seq }) => seq)].slice(-CANDIDATES_MAX);
      found.isAnyHidden ||= rows.some((row) => row.name === null && Number(row.was_paid) === 1);
    }
    found.isWhole = seqs.length <= max;
  } catch (error) {
    if (!isSearchTimeout(error)) throw error;
  }
  return found;
}

/** A name without a word that is long enough for the search matches anywhere. */
function matchName(asked: string): (name: string) => boolean {
  const words = splitWords([asked]);
  if (words.length === 0) return (name) => foldName(name).includes(foldName(asked));
  return (name) => {
    const own = splitWords([name]);
    return words.every((word) => own.some((one) => one.startsWith(word)));
  };
}

function selectSeqs(db: Reader, { amountCents, e2eId, happened }: Omit<Terms, 'name'>, limit: number) {
  const isOfAmount = amountCents === undefined ? sql<boolean>`TRUE` : sql<boolean>`amount_cents = ${amountCents}`;
  const all = db.selectFrom('transactions').select('seq').where(isOfAmount).limit(limit);
  if (e2eId !== undefined) return [all.where('e2e_id', '=', truncateText(e2eId, TEXT_BYTES_MAX.e2e_id))];
  const { from = '', end = '' } = happened ?? {};
  const paid = db
    .selectFrom('events')
    .innerJoin('transactions', 'transactions.seq', 'events.transaction_seq')
    .select('transactions.seq')
    .where('events.status', '=', 'paid')
    .where(inForce('events'), '=', 1)
    .where('events.at_wall', '>=', from)
    .where('events.at_wall', '<', end)
    .where(isOfAmount)
    .limit(limit);
  return [all.where('created_wall', '>=', from).where('created_wall', '<', end), paid];
}

function selectNames(db: Reader, seqs: number[]) {
  return db
    .selectFrom('transactions')
    .leftJoin('parties', 'parties.transaction_seq', 'transactions.seq')
    .select(['transactions.seq', 'parties.name', wasPaid().as('was_paid')])
    .where('transactions.seq', 'in', seqs);
}
