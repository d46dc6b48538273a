import { sql, type Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Value } from '../database/prepared.ts';
import type { Database } from '../database/tables.ts';
import { isDuplicate, isTransient, transact } from '../database/transact.ts';
import { isRefusedByDatabase } from '../ledger/refuse-row.ts';
import type { BodyFault } from './check-body.ts';

const RELOOK_AFTER_S = 10;
const ADDRESS_CHARS_MAX = 64;
/** A commit that takes longer is given up: the database counts as away. */
export const COMMIT_MS_MAX = 3_000;
/** Up to so many rows each count has a statement of its own, beyond only its multiples: few enough to stay prepared. */
const ROWS_STEP = 64;

export type Arrival = {
  hash: Buffer;
  body: Buffer;
  address: string;
  headers: Record<string, string>;
  receivedAt: Date;
  fault: BodyFault | undefined;
};

/** What became of an arrival: kept, the same bytes having come before or not; or refused for what it is, alone. */
export type Kept = { duplicate: boolean; refused?: unknown };

const NEW: Kept = { duplicate: false };

/**
 * Commits a batch of arrivals: new bodies in one insert, bodies that came before as repeats of the first. One that the
 * database would not take for what it holds is refused alone: halves are tried until it stands by itself.
 * @throws Error when the database takes nothing; some of the batch may be committed by then, or come to be.
 */
export async function writeArrivals(context: Context, arrivals: Arrival[]): Promise<Kept[]> {
  return await writeInHalves(arrivals, (some) => writeTogether(context, some));
}

/** Writes all at once; where the database refuses some of them for what they hold, these alone are left out. */
export async function writeInHalves(arrivals: Arrival[], write: (some: Arrival[]) => Promise<Kept[]>): Promise<Kept[]> {
  try {
    return await write(arrivals);
  } catch (error) {
    if (!isRefusedByDatabase(error)) throw error;
    if (arrivals.length === 1) return [{ duplicate: false, refused: error }];
    const middle = Math.ceil(arrivals.length / 2);
    const first = await writeInHalves(arrivals.slice(0, middle), write);
    return [...first, ...(await writeInHalves(arrivals.slice(middle), write))];
  }
}

/** How many of so many arrivals to commit at once. */
export function roundDownRows(count: number): number {
  return count <= ROWS_STEP ? count : count - (count % ROWS_STEP);
}

async function writeTogether(context: Context, arrivals: Arrival[]): Promise<Kept[]> {
  const hashes = new Set(arrivals.map(keyOf));
  if (hashes.size === arrivals.length) {
    // nearly always all are new: one statement that commits itself, with no question before it
    try {
      await context.prepared.execute(insertText(arrivals.length), arrivals.flatMap(rowOf), COMMIT_MS_MAX);
      return arrivals.map(() => NEW);
    } catch (error) {
      if (!isDuplicate(error) && !isTransient(error)) throw error;
    }
  }
  return await transact(context.db, (trx) => writeInTransaction(trx, arrivals), { retryDuplicates: true });
}

const keyOf = (one: Arrival): string => one.hash.toString('latin1');

const texts = new Map<number, string>();

function insertText(rows: number): string {
  let text = texts.get(rows);
  if (text === undefined) {
    const columns = 'hash, body, received_at, source_address, headers, state, reason';
    text = `INSERT INTO webhooks (${columns}) VALUES ${new Array(rows).fill("(?, ?, ?, ?, ?, 'received', ?)").join(', ')}`;
    texts.set(rows, text);
  }
  return text;
}

function rowOf(one: Arrival): Value[] {
  const address = one.address.slice(0, ADDRESS_CHARS_MAX);
  return [one.hash, one.body, one.receivedAt, address, JSON.stringify(one.headers), one.fault ?? null];
}

/** Writes what is new, and what came before as repeats. To be run again on a duplicate: another writer was quicker. */
export async function writeInTransaction(trx: Transaction<Database>, arrivals: Arrival[]): Promise<Kept[]> {
  const firsts = new Map<string, Arrival>();
  for (const one of arrivals) if (!firsts.has(keyOf(one))) firsts.set(keyOf(one), one);
  const known = await findSeqs(trx, [...firsts.values()]);
  const fresh = [...firsts].filter(([hash]) => !known.has(hash)).map(([, one]) => one);
  if (fresh.length > 0) await insertWebhooks(trx, fresh);
  const repeats = arrivals.filter((one) => known.has(keyOf(one)) || firsts.get(keyOf(one)) !== one);
  if (repeats.length > 0) {
    const seqs = await findSeqs(trx, repeats);
    await recordRepeats(
      trx,
      repeats.map((one) => ({ ...one, seq: seqs.get(keyOf(one)) ?? 0 })),
    );
  }
  const repeated = new Set(repeats);
  return arrivals.map((one) => ({ duplicate: repeated.has(one) }));
}

async function findSeqs(trx: Transaction<Database>, arrivals: Arrival[]): Promise<Map<string, number>> {
  const rows = await trx
    .selectFrom('webhooks')
    .select(['seq', 'hash'])
    .where(
      'hash',
      'in',
      arrivals.map((one) => one.hash),
    )
    .execute();
  return new Map(rows.map((row) => [row.hash.toString('latin1'), row.seq]));
}

async function insertWebhooks(trx: Transaction<Database>, fresh: Arrival[]): Promise<void> {
  await trx
    .insertInto('webhooks')
    .values(
      fresh.map((one) => ({
        hash: one.hash,
        body: one.body,
        received_at: one.receivedAt,
        source_address: one.address.slice(0, ADDRESS_CHARS_MAX),
        headers: JSON.stringify(one.headers),
        state: 'received',
        reason: one.fault ?? null,
      })),
    )
    .execute();
}

async function recordRepeats(trx: Transaction<Database>, repeats: (Arrival & { seq: number })[]): Promise<void> {
  await trx
    .insertInto('webhook_repeats')
    .values(repeats.map((one) => ({ webhook_seq: one.seq, received_at: one.receivedAt, source_address: one.address })))
    .execute();
  const counts = Map.groupBy(repeats, (one) => one.seq);
  for (const [seq, ones] of [...counts].sort(([a], [b]) => a - b)) {
    await trx
      .updateTable('webhooks')
      .set({ repeats: sql`repeats + ${ones.length}` })
      .where('seq', '=', seq)
      .execute();
  }
  await lookAgain(trx, [...counts.keys()]);
}

/**
 * A repeat is still a hint: what it names is looked at again, at most once in RELOOK_AFTER_S. What waits for its claim
 * is looked at no later than that, and what was quarantined gets another chance where it has a key.
 */
async function lookAgain(trx: Transaction<Database>, webhookSeqs: number[]): Promise<void> {
  const soon = sql<Date>`GREATEST(UTC_TIMESTAMP(3), COALESCE(looked_at, '2000-01-01') + INTERVAL ${sql.lit(RELOOK_AFTER_S)} SECOND)`;
  await trx
    .updateTable('webhook_items')
    // the state is set last: MariaDB gives the columns their values one after another
    .set({
      next_look_at: sql`IF(state = 'pending', LEAST(COALESCE(next_look_at, ${soon}), ${soon}), ${soon})`,
      state: 'pending',
    })
    .where('webhook_seq', 'in', webhookSeqs)
    .where((eb) =>
      eb.or([eb('transaction_id', 'is not', null), eb('reference', 'is not', null), eb('extra_hash', 'is not', null)]),
    )
    .execute();
}
