/**
 * Writes arrivals within a transaction. The caller retries it as a whole on a duplicate key: another writer was faster.
 */
import { sql, type Transaction } from 'kysely';
import { requireRowNumber } from '../../database/require-row-number.ts';
import type { Database } from '../../database/tables.ts';
import type { BodyDefect } from './check-body.ts';
import type { WebhookItem } from './parse-items.ts';
import { FIRST_IDS } from './plan-shows.ts';
import { splitBatches } from './split-batches.ts';

export const REFETCH_AFTER_S = 10;

export type Arrival = {
  hash: Buffer;
  body: Buffer;
  /** As `truncateAddress` returns it. */
  address: string;
  headers: Record<string, string>;
  receivedAt: Date;
  defect: BodyDefect | undefined;
  /** The item that the body names, if it is one transaction to look up. Unknown for what was spooled. */
  item?: WebhookItem | undefined;
};

/**
 * The outcome of an arrival: stored as new or as a duplicate, or not stored, since the database does not take its data.
 * `isHandedOver`: the inbox loop of this process has it already.
 */
export type ArrivalOutcome = { duplicate: boolean; dataError?: unknown; isHandedOver?: boolean };

export const hashKeyOf = (one: Arrival): string => one.hash.toString('latin1');
const arrivalKeyOf = (digest: Buffer, at: Date): string => `${digest.toString('latin1')} ${at.getTime()}`;

/** Writes each as a separate arrival: new bodies as webhooks, known ones as repeats. */
export async function insertArrivals(trx: Transaction<Database>, arrivals: Arrival[]): Promise<ArrivalOutcome[]> {
  return await write(trx, arrivals, await findSeqs(trx, arrivals));
}

/**
 * Writes the arrivals that the inbox does not have by hash and instant. A row with the same hash and instant is not a
 * repeat but the same arrival, written by a commit with an unknown outcome.
 */
export async function insertMissingArrivals(
  trx: Transaction<Database>,
  arrivals: Arrival[],
): Promise<ArrivalOutcome[]> {
  const known = await findKnown(trx, arrivals);
  const missing = arrivals.filter((one) => !known.arrivals.has(arrivalKeyOf(one.hash, one.receivedAt)));
  // uses the rows read above: what another commit has written since is a duplicate key, and the caller retries
  const outcomes = missing.length > 0 ? await write(trx, missing, known.seqs) : [];
  const byArrival = new Map(missing.map((one, index) => [one, outcomes[index]]));
  return arrivals.map(
    (one) =>
      byArrival.get(one) ?? { duplicate: known.arrivals.get(arrivalKeyOf(one.hash, one.receivedAt)) === 'repeat' },
  );
}

/** @param known row numbers of the inbox's rows of these bodies, by hash. */
async function write(
  trx: Transaction<Database>,
  arrivals: Arrival[],
  known: Map<string, number>,
): Promise<ArrivalOutcome[]> {
  const firsts = new Map<string, Arrival>();
  for (const one of arrivals) if (!firsts.has(hashKeyOf(one))) firsts.set(hashKeyOf(one), one);
  const fresh = [...firsts].filter(([hash]) => !known.has(hash)).map(([, one]) => one);
  for (const some of splitBatches(fresh)) await insertWebhooks(trx, some);
  const repeats = arrivals.filter((one) => known.has(hashKeyOf(one)) || firsts.get(hashKeyOf(one)) !== one);
  if (repeats.length > 0) {
    const seqs = await findSeqs(trx, repeats);
    await recordRepeats(
      trx,
      repeats.map((one) => ({ ...one, seq: requireRowNumber(seqs.get(hashKeyOf(one)), 'a repeated webhook') })),
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

/**
 * Finds the arrivals that the inbox has, and whether each was the first of its body or a repeat. A commit that timed out
 * may still run: it has the body's row locked. The lock here waits for it, or its repeats would not be visible.
 */
async function findKnown(trx: Transaction<Database>, arrivals: Arrival[]) {
  const seqs = await findSeqs(trx, arrivals);
  const known = new Map<string, 'first' | 'repeat'>();
  if (seqs.size === 0) return { seqs, arrivals: known };
  const firsts = await trx
    .selectFrom('webhooks')
    .select(['hash', 'received_at'])
    .where('seq', 'in', [...seqs.values()])
    .orderBy('seq')
    .forUpdate()
    .execute();
  const stored = arrivals.flatMap((one) => {
    const seq = seqs.get(hashKeyOf(one));
    return seq === undefined ? [] : [{ ...one, seq }];
  });
  const repeats = await trx
    .selectFrom('webhook_repeats')
    .select(['webhook_seq', 'received_at'])
    // by their instants: one body may have millions of repeats
    .where((eb) => eb.or(stored.map((one) => eb.and({ webhook_seq: one.seq, received_at: one.receivedAt }))))
    .execute();
  const repeated = new Set(repeats.map((row) => `${row.webhook_seq} ${row.received_at.getTime()}`));
  for (const one of stored) {
    if (repeated.has(`${one.seq} ${one.receivedAt.getTime()}`))
      known.set(arrivalKeyOf(one.hash, one.receivedAt), 'repeat');
  }
  for (const row of firsts) known.set(arrivalKeyOf(row.hash, row.received_at), 'first');
  return { seqs, arrivals: known };
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
        reason: one.defect ?? null,
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
  await fetchAgain(trx, [...counts.keys()]);
}

/**
 * Schedules a fetch of what a repeat names, at most once in REFETCH_AFTER_S. Items that wait for their claim are fetched by
 * then at the latest, and quarantined items with a key get another fetch. Ids that the provider does not know keep their
 * schedule and wait for the list: a repeat causes no request for them. Known ids beyond the first of a body have their turn
 * (plan-shows.ts).
 */
async function fetchAgain(trx: Transaction<Database>, webhookSeqs: number[]): Promise<void> {
  const soon = sql<Date>`GREATEST(UTC_TIMESTAMP(3), COALESCE(looked_at, '2000-01-01') + INTERVAL ${sql.lit(REFETCH_AFTER_S)} SECOND)`;
  await trx
    .updateTable('webhook_items')
    // the state is set last: MariaDB assigns the columns one after another
    .set({
      next_look_at: sql`IF(state = 'pending', LEAST(COALESCE(next_look_at, ${soon}), ${soon}), ${soon})`,
      state: 'pending',
    })
    .where('webhook_seq', 'in', webhookSeqs)
    .where((eb) =>
      eb.or([eb('transaction_id', 'is not', null), eb('reference', 'is not', null), eb('extra_hash', 'is not', null)]),
    )
    .where((eb) => eb.or([eb('resolved_id', 'is not', null), eb('looks', '=', 0), eb('reason', 'in', REPEATABLE)]))
    // beyond the first ids, pending items keep waiting for their turn or for the list
    .where((eb) => eb.or([eb('position', '<', FIRST_IDS), eb('state', '<>', 'pending')]))
    .execute();
}

/** Reasons of a quarantine that do not mean that the provider denies the transaction. */
const REPEATABLE = ['ambiguous', 'unreadable_at_provider'];
