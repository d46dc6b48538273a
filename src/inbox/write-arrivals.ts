import { CompiledQuery, type Kysely, sql, type Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { isDuplicate, isTransient, transact } from '../database/transact.ts';
import type { BodyFault } from './check-body.ts';

const RELOOK_AFTER_S = 10;

export type Arrival = {
  hash: Buffer;
  body: Buffer;
  address: string;
  headers: Record<string, string>;
  receivedAt: Date;
  fault: BodyFault | undefined;
};

/**
 * Commits a batch of arrivals: new bodies in one insert, bodies that came before as repeats of the first.
 * @returns for each arrival whether the same bytes had come before.
 */
export async function writeArrivals(context: Context, arrivals: Arrival[]): Promise<boolean[]> {
  const hashes = new Set(arrivals.map((one) => one.hash.toString('base64')));
  if (hashes.size === arrivals.length) {
    // nearly always all are new: one statement that commits itself, with no question before it
    try {
      await insertWebhooks(context.db, arrivals);
      return arrivals.map(() => false);
    } catch (error) {
      if (!isDuplicate(error) && !isTransient(error)) throw error;
    }
  }
  return await transact(context.db, (trx) => writeInTransaction(trx, arrivals), { retryDuplicates: true });
}

async function writeInTransaction(trx: Transaction<Database>, arrivals: Arrival[]): Promise<boolean[]> {
  const firsts = new Map<string, Arrival>();
  const key = (one: Arrival): string => one.hash.toString('base64');
  for (const one of arrivals) if (!firsts.has(key(one))) firsts.set(key(one), one);
  const known = await findSeqs(trx, [...firsts.values()]);
  const fresh = [...firsts].filter(([hash]) => !known.has(hash)).map(([, one]) => one);
  if (fresh.length > 0) await insertWebhooks(trx, fresh);
  const repeats = arrivals.filter((one) => known.has(key(one)) || firsts.get(key(one)) !== one);
  if (repeats.length > 0) {
    const seqs = await findSeqs(trx, repeats);
    await recordRepeats(
      trx,
      repeats.map((one) => ({ ...one, seq: seqs.get(key(one)) ?? 0 })),
    );
  }
  const repeated = new Set(repeats);
  return arrivals.map((one) => repeated.has(one));
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
  return new Map(rows.map((row) => [row.hash.toString('base64'), row.seq]));
}

/** Written out as text: to build and compile the same of 8 × 60 values costs as much as all else a request does. */
async function insertWebhooks(db: Kysely<Database>, fresh: Arrival[]): Promise<void> {
  const columns = 'hash, body, received_at, source_address, headers, state, reason';
  const rows = new Array<string>(fresh.length).fill("(?, ?, ?, ?, ?, 'received', ?)").join(', ');
  const values = fresh.flatMap((one) => [
    one.hash,
    one.body,
    one.receivedAt,
    one.address,
    JSON.stringify(one.headers),
    one.fault ?? null,
  ]);
  await db.executeQuery(CompiledQuery.raw(`INSERT INTO webhooks (${columns}) VALUES ${rows}`, values));
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
