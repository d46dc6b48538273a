import { sql } from 'kysely';
import type { Context } from '../../context.ts';

/** A longer pause between reports restarts `since`: the database or the receiver was unavailable. */
const BREAK_S = 30;

/**
 * Reports to other processes whether this spool holds webhooks that the inbox does not have. Until it reports that it is
 * empty, a webhook that may be in it does not count as lost.
 */
export async function reportSpool(context: Context, name: string, isWaiting: boolean): Promise<void> {
  const now = context.clock.now();
  await context.db
    .insertInto('spools')
    .values({ name, seen_at: now, since: now, is_waiting: isWaiting ? 1 : 0 })
    // `since` first: MariaDB assigns the columns one after another
    .onDuplicateKeyUpdate({
      since: sql`IF(seen_at < ${now} - INTERVAL ${sql.lit(BREAK_S)} SECOND, ${now}, since)`,
      seen_at: now,
      is_waiting: isWaiting ? 1 : 0,
    })
    .execute();
}

/** Removes the report of an empty spool at shutdown. */
export async function removeSpoolReport(context: Context, name: string): Promise<void> {
  await context.db.deleteFrom('spools').where('name', '=', name).where('is_waiting', '=', 0).execute();
}
