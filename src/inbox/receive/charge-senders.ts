/**
 * Costs of senders of webhooks within an hour, stored for all replicas and over restarts: shows of ids that the provider
 * does not know, and garbage bytes (see limit-garbage.ts). The hour starts with the first charge.
 */
import { sql, type Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { HOUR_MS } from '../../domain/calendar.ts';

export type Cost = 'shows' | 'garbage_bytes';
type Charge = { sender: string; cost: Cost; wanted: number; max: number };
type Store = Pick<Context, 'db' | 'clock'>;

/**
 * Charges a sender for up to `wanted`, as far as `max` is not used up in its hour.
 * @returns the amount granted, and when the hour ends.
 */
export async function chargeSender({ db, clock }: Store, charge: Charge): Promise<{ granted: number; until: Date }> {
  return await transact(db, (trx) => chargeInTransaction(trx, charge, clock.now()), { retryDuplicates: true });
}

async function chargeInTransaction(trx: Transaction<Database>, { sender, cost, wanted, max }: Charge, now: Date) {
  const row = await trx
    .selectFrom('senders')
    .select(['hour_at', 'shows', 'garbage_bytes'])
    .where('address', '=', sender)
    .forUpdate()
    .executeTakeFirst();
  // an hour that starts far in the future was written by a wrong clock
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

/** Refunds shows that turned out to be hits. */
export async function refundShows({ db }: Pick<Store, 'db'>, sender: string, shows: number): Promise<void> {
  await db
    .updateTable('senders')
    .set({ shows: sql`GREATEST(0, shows - ${shows})` })
    .where('address', '=', sender)
    .where('shows', '>', 0)
    .execute();
}

/** Records a hit: the provider knows a transaction that the sender's webhook named. */
export async function recordHit({ db, clock }: Store, sender: string): Promise<void> {
  const now = clock.now();
  await db
    .insertInto('senders')
    .values({ address: sender, hit_at: now, hour_at: now })
    .onDuplicateKeyUpdate({ hit_at: now })
    .execute();
}

/** @returns the last hit of each sender that has one. Hits are stored for a day (src/retention). */
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
