import type { Context } from '../../context.ts';
import type { ParameterValue } from '../../database/open/open-prepared-statements.ts';
import {
  isDataError,
  isDuplicateKey,
  isOutcomeUnknown,
  isPacketTooLarge,
  isPrepareError,
  isRefused,
  isTransient,
  transact,
} from '../../database/transact.ts';
import { bisect } from '../../runtime/bisect.ts';
import {
  type Arrival,
  type ArrivalOutcome,
  hashKeyOf,
  insertArrivals,
  insertMissingArrivals,
} from './insert-arrivals.ts';
import { insertWithItems } from './insert-with-items.ts';

/** Time limit of a commit. After it the database counts as unavailable. */
export const COMMIT_TIMEOUT_MS = 3_000;
/** Up to 64 rows, one prepared statement for each row count; above, multiples of 64, to bound the statement cache. */
const ROWS_STEP = 64;

const NEW: ArrivalOutcome = { duplicate: false };
const HANDED_OVER: ArrivalOutcome = { duplicate: false, isHandedOver: true };

/**
 * Commits a batch of arrivals: new bodies in one INSERT, known bodies as repeats of the first. An arrival that the database
 * refuses for its data is isolated by bisection, and it alone fails.
 * @param signal after its abort, nothing more is started or committed: the spool may hold the batch.
 * @throws Error if the database fails. A part of the batch may be committed by then, or later.
 */
export async function writeArrivals(
  context: Context,
  arrivals: Arrival[],
  signal?: AbortSignal,
): Promise<ArrivalOutcome[]> {
  return await writeByBisection(arrivals, (some) => writeTogether(context, some, signal));
}

/** Writes all arrivals at once. Those that the database refuses for their data are found by bisection and left out. */
export async function writeByBisection(
  arrivals: Arrival[],
  write: (some: Arrival[]) => Promise<ArrivalOutcome[]>,
): Promise<ArrivalOutcome[]> {
  return await bisect(arrivals, write, {
    isSplittable: isDataError,
    toResult: (dataError) => ({ duplicate: false, dataError }),
  });
}

/** @returns the largest batch, of at most `count` rows, that has a prepared statement. */
export function roundDownRows(count: number): number {
  return count <= ROWS_STEP ? count : count - (count % ROWS_STEP);
}

async function writeTogether(context: Context, arrivals: Arrival[], signal?: AbortSignal): Promise<ArrivalOutcome[]> {
  signal?.throwIfAborted();
  const hashes = new Set(arrivals.map(hashKeyOf));
  let isUnknown = false;
  if (hashes.size === arrivals.length) {
    // nearly always all are new: without a SELECT before the INSERT
    try {
      return await insertNew(context, arrivals, signal);
    } catch (error) {
      if (!retriesAsText(error)) throw error;
      isUnknown = isOutcomeUnknown(error);
    }
  }
  // a lost connection may have committed: then the row is this arrival, not an earlier one
  const write = (mayBeDone: boolean) => (isUnknown || mayBeDone ? insertMissingArrivals : insertArrivals);
  return await transact(
    context.db,
    async (trx, mayBeDone) => {
      signal?.throwIfAborted();
      const outcomes = await write(mayBeDone)(trx, arrivals);
      // otherwise a row that the drain of the spool has written since would count as an earlier arrival
      signal?.throwIfAborted();
      return outcomes;
    },
    { retryDuplicates: true },
  );
}

async function insertNew(context: Context, arrivals: Arrival[], signal?: AbortSignal): Promise<ArrivalOutcome[]> {
  try {
    if (await insertWithItems(context, arrivals, COMMIT_TIMEOUT_MS)) return arrivals.map(() => HANDED_OVER);
  } catch (error) {
    // an item may be what the database refuses: the webhooks are then stored without items, and split later
    if (retriesAsText(error) || !isRefused(error)) throw error;
    signal?.throwIfAborted();
  }
  const hasDefects = arrivals.some(({ defect }) => defect !== undefined);
  const text = insertText(arrivals.length, hasDefects);
  await context.preparedStatements.execute(text, valuesOf(arrivals, hasDefects), COMMIT_TIMEOUT_MS);
  return arrivals.map(() => NEW);
}

/** Whether the same arrivals may be written by other statements: they are not new, or it was not their fault. */
function retriesAsText(error: unknown): boolean {
  return isDuplicateKey(error) || isTransient(error) || isPacketTooLarge(error) || isPrepareError(error);
}

const texts = { plain: new Map<number, string>(), withDefects: new Map<number, string>() };

/** Binds one value less for each row of a batch without defects: the server's time grows with the square of the values. */
function insertText(rows: number, hasDefects: boolean): string {
  const known = hasDefects ? texts.withDefects : texts.plain;
  let text = known.get(rows);
  if (text === undefined) {
    const columns = 'hash, body, received_at, source_address, headers, state, reason';
    const row = `(?, ?, ?, ?, ?, 'received', ${hasDefects ? '?' : 'NULL'})`;
    text = `INSERT INTO webhooks (${columns}) VALUES ${new Array(rows).fill(row).join(', ')}`;
    known.set(rows, text);
  }
  return text;
}

/** All values in one flat list: built thousands of times a second. */
function valuesOf(arrivals: Arrival[], hasDefects: boolean): ParameterValue[] {
  const values: ParameterValue[] = [];
  for (const { hash, body, receivedAt, address, headers, defect } of arrivals) {
    values.push(hash, body, receivedAt, address, JSON.stringify(headers));
    if (hasDefects) values.push(defect ?? null);
  }
  return values;
}
