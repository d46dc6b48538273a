import { sql, type Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
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

async function insertWebhooks(trx: Transaction<Database>, fresh: Arrival[]): Promise<void> {
  await trx
    .insertInto('webhooks')
    .values(
      fresh.map((one) => ({
        hash: one.hash,
        body: one.body,
        received_at: one.receivedAt,
        source_address: one.address,
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
  // a repeat is still a hint: what it names is looked at again, at most once in RELOOK_AFTER_S
  await trx
    .updateTable('webhook_items')
    .set({
      state: 'pending',
      next_look_at: sql`GREATEST(UTC_TIMESTAMP(3), COALESCE(looked_at, '2000-01-01') + INTERVAL ${sql.lit(RELOOK_AFTER_S)} SECOND)`,
    })
    .where('webhook_seq', 'in', [...counts.keys()])
    .where('state', '=', 'applied')
    .execute();
}
