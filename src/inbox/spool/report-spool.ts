import { sql } from 'kysely';
import type { Context } from '../../context.ts';

/** A report that is missing for longer is a break: the database or the receiver was away. */
const BREAK_S = 30;

/**
 * Tells the other processes whether this spool holds webhooks that the inbox has not: while it does, and until it has
 * said that it does not, no webhook counts as lost that may be among them.
 */
export async function reportSpool(context: Context, name: string, isWaiting: boolean): Promise<void> {
  const now = context.clock.now();
  await context.db
    .insertInto('spools')
    .values({ name, seen_at: now, since: now, is_waiting: isWaiting ? 1 : 0 })
    // `since` first: MariaDB gives the columns their values one after another
    .onDuplicateKeyUpdate({
      since: sql`IF(seen_at < ${now} - INTERVAL ${sql.lit(BREAK_S)} SECOND, ${now}, since)`,
      seen_at: now,
      is_waiting: isWaiting ? 1 : 0,
    })
    .execute();
}

/** For one that ends empty: nothing is waited for any more. */
export async function removeSpoolReport(context: Context, name: string): Promise<void> {
  await context.db.deleteFrom('spools').where('name', '=', name).where('is_waiting', '=', 0).execute();
}
