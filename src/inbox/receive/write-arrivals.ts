import type { Context } from '../../context.ts';
import type { ParameterValue } from '../../database/open-prepared-statements.ts';
import {
  isDuplicateKey,
  isOutcomeUnknown,
  isPacketTooLarge,
  isPrepareError,
  isTransient,
  transact,
} from '../../database/transact.ts';
import { isRefusedByDatabase } from '../../ledger/apply/store-refused-rows.ts';
import {
  type Arrival,
  type ArrivalOutcome,
  hashKeyOf,
  insertArrivals,
  insertMissingArrivals,
} from './insert-arrivals.ts';

/** A commit that takes longer is given up: the database counts as away. */
export const COMMIT_TIMEOUT_MS = 3_000;
/** Up to so many rows each count has a statement of its own, beyond only its multiples: few enough to stay prepared. */
const ROWS_STEP = 64;

const NEW: ArrivalOutcome = { duplicate: false };

/**
 * Commits a batch of arrivals: new bodies in one insert, bodies that came before as repeats of the first. One that the
 * database would not take for what it holds is refused alone: halves are tried until it stands by itself.
 * @param givenUp once it is aborted nothing more is begun or committed: nobody waits for it, and the spool may hold it.
 * @throws Error when the database takes nothing; some of the batch may be committed by then, or come to be.
 */
export async function writeArrivals(
  context: Context,
  arrivals: Arrival[],
  givenUp?: AbortSignal,
): Promise<ArrivalOutcome[]> {
  return await writeByBisection(arrivals, (some) => writeTogether(context, some, givenUp));
}

/** Writes all at once; where the database refuses some of them for what they hold, these alone are left out. */
export async function writeByBisection(
  arrivals: Arrival[],
  write: (some: Arrival[]) => Promise<ArrivalOutcome[]>,
): Promise<ArrivalOutcome[]> {
  try {
    return await write(arrivals);
  } catch (error) {
    if (!isRefusedByDatabase(error)) throw error;
    if (arrivals.length === 1) return [{ duplicate: false, refused: error }];
    const middle = Math.ceil(arrivals.length / 2);
    const first = await writeByBisection(arrivals.slice(0, middle), write);
    return [...first, ...(await writeByBisection(arrivals.slice(middle), write))];
  }
}

/** How many of so many arrivals to commit at once. */
export function roundDownRows(count: number): number {
  return count <= ROWS_STEP ? count : count - (count % ROWS_STEP);
}

async function writeTogether(context: Context, arrivals: Arrival[], givenUp?: AbortSignal): Promise<ArrivalOutcome[]> {
  givenUp?.throwIfAborted();
  const hashes = new Set(arrivals.map(hashKeyOf));
  let isUnknown = false;
  if (hashes.size === arrivals.length) {
    // nearly always all are new: one statement that commits itself, with no question before it
    try {
      const tellsFaults = arrivals.some(({ defect: fault }) => fault !== undefined);
      const text = insertText(arrivals.length, tellsFaults);
      await context.preparedStatements.execute(text, valuesOf(arrivals, tellsFaults), COMMIT_TIMEOUT_MS);
      return arrivals.map(() => NEW);
    } catch (error) {
      const goesAsText =
        isDuplicateKey(error) || isTransient(error) || isPacketTooLarge(error) || isPrepareError(error);
      if (!goesAsText) throw error;
      isUnknown = isOutcomeUnknown(error);
    }
  }
  // a connection that was lost may have committed: what it left is no earlier arrival, but this one
  const write = (mayBeDone: boolean) => (isUnknown || mayBeDone ? insertMissingArrivals : insertArrivals);
  return await transact(
    context.db,
    async (trx, mayBeDone) => {
      givenUp?.throwIfAborted();
      const kept = await write(mayBeDone)(trx, arrivals);
      // what the drain of the spool has written since then would be taken for an earlier arrival
      givenUp?.throwIfAborted();
      return kept;
    },
    { retryDuplicates: true },
  );
}

const texts = { plain: new Map<number, string>(), telling: new Map<number, string>() };

/** A row of a batch without faults has a value less to bind: the server's time for a batch grows with their square. */
function insertText(rows: number, tellsFaults: boolean): string {
  const known = tellsFaults ? texts.telling : texts.plain;
  let text = known.get(rows);
  if (text === undefined) {
    const columns = 'hash, body, received_at, source_address, headers, state, reason';
    const row = `(?, ?, ?, ?, ?, 'received', ${tellsFaults ? '?' : 'NULL'})`;
    text = `INSERT INTO webhooks (${columns}) VALUES ${new Array(rows).fill(row).join(', ')}`;
    known.set(rows, text);
  }
  return text;
}

/** Row after row, in one list: it is made thousands of times a second. */
function valuesOf(arrivals: Arrival[], tellsFaults: boolean): ParameterValue[] {
  const values: ParameterValue[] = [];
  for (const { hash, body, receivedAt, address, headers, defect: fault } of arrivals) {
    values.push(hash, body, receivedAt, address, JSON.stringify(headers));
    if (tellsFaults) values.push(fault ?? null);
  }
  return values;
}
