/**
 * What a sender of webhooks has cost within its hour, in the database for all replicas and over restarts: shows of ids
 * that the provider does not know, and bytes of bodies that name no transaction. The hour begins with the first charge.
 */
import { sql, type Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';

const HOUR_MS = 3_600_000;

export type Cost = 'shows' | 'garbage_bytes';
type Charge = { sender: string; cost: Cost; wanted: number; max: number };
type Store = Pick<Context, 'db' | 'clock'>;

/**
 * Charges a sender with as much of `wanted` as is left of `max` in its hour.
 * @returns how much was granted, and when the hour ends.
 */
export async function chargeSender({ db, clock }: Store, charge: Charge): Promise<{ granted: number; until: Date }> {
  return await transact(db, (trx) => takeCharge(trx, charge, clock.now()), { retryDuplicates: true });
}

async function takeCharge(trx: Transaction<Database>, { sender, cost, wanted, max }: Charge, now: Date) {
  const row = await trx
    .selectFrom('senders')
    .select(['hour_at', 'shows', 'garbage_bytes'])
    .where('address', '=', sender)
    .forUpdate()
    .executeTakeFirst();
  // one that lies ahead was written by a clock that was wrong
  const ageMs = row ? now.getTime() - row.hour_at.getTime() : Number.POSITIVE_INFINITY;
  const isSameHour = row !== undefined && ageMs < HOUR_MS && ageMs > -HOUR_MS;
  const used = isSameHour ? { shows: row.shows, garbage_bytes: row.garbage_bytes } : { shows: 0, garbage_bytes: 0 };
  const hourAt = isSameHour ? row.hour_at : now;
  const granted = Math.max(0, Math.min(wanted, max - used[cost]));
  const charged = { ...used, [cost]: used[cost] + granted, hour_at: hourAt };
  if (row && (granted > 0 || !isSameHour))
    await trx.updateTable('senders').set(charged).where('address', '=', sender).execute();
  else if (!row)
    await trx
      .insertInto('senders')
      .values({ address: sender, ...charged })
      .execute();
  return { granted, until: new Date(hourAt.getTime() + HOUR_MS) };
}

/** Gives shows back that were no misses after all. */
export async function refundShows({ db }: Pick<Store, 'db'>, sender: string, shows: number): Promise<void> {
  await db
    .updateTable('senders')
    .set({ shows: sql`GREATEST(0, shows - ${shows})` })
    .where('address', '=', sender)
    .where('shows', '>', 0)
    .execute();
}

/** Writes down that the provider knew what a sender's webhook named. */
export async function recordHit({ db, clock }: Store, sender: string): Promise<void> {
  const now = clock.now();
  await db
    .insertInto('senders')
    .values({ address: sender, hit_at: now, hour_at: now })
    .onDuplicateKeyUpdate({ hit_at: now })
    .execute();
}

/** @returns when each of these senders had its last hit. */
export async function findLastHits({ db }: Pick<Store, 'db'>, senders: string[]): Promise<Map<string, Date>> {
  if (senders.length === 0) return new Map();
  const rows = await db
    .selectFrom('senders')
    .select(['address', 'hit_at'])
    .where('address', 'in', senders)
    .where('hit_at', 'is not', null)
    .execute();
  return new Map(rows.flatMap((row) => (row.hit_at ? [[row.address, row.hit_at]] : [])));
}
