import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';

/** The zone's clock may repeat or skip hours: events from this much earlier are read, and compared as instants. */
const MARGIN_MS = 3 * 3_600_000;

/** Returns the wall time from which a backfill reads events. */
export function firstWallOf({ calendar }: Pick<Context, 'calendar'>, since: Date): string {
  return calendar.toWallTime(new Date(since.getTime() - MARGIN_MS));
}

/**
 * Starts a backfill, in the transaction that adds a merchant or makes it receive more: the callbacks of events that the
 * ledger knows already are enqueued in the background (`src/callbacks/backfill`). It replaces an earlier one.
 */
export async function startBackfill(
  context: Context,
  trx: Transaction<Database>,
  merchantSeq: number,
  since: Date,
): Promise<void> {
  const now = context.clock.now();
  const started = {
    ...{ state: 'waiting', events_since: since, cursor_wall: firstWallOf(context, since), cursor_seq: 0 },
    expected_seq: 0,
    ...{ transactions: 0, enqueued: 0, started_at: now, updated_at: now, finished_at: null },
  };
  await trx
    .insertInto('backfills')
    .values({ merchant_seq: merchantSeq, ...started })
    .onDuplicateKeyUpdate(started)
    .execute();
}
