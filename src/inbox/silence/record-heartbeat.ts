import type { Context } from '../../context.ts';
import { describeError } from '../../log.ts';
import { HEARTBEAT_RETENTION_DAYS, MINUTE_MS } from './detect-silence.ts';

/** Webhooks that were drained from the spool came earlier than those before them: the newest is among the last few. */
const LAST_ROWS = 50;

/**
 * Writes once a minute that a receiver was alive, and when the newest webhook came: what `judgeSilence` reads. All
 * replicas write the same row. While the database is away nothing is written: a receiver that could not prove that it
 * was up counts as one that was down.
 */
export function startHeartbeats(context: Context): AsyncDisposable {
  const stop = new AbortController();
  const beats = (async () => {
    while (!stop.signal.aborted) {
      await recordHeartbeat(context).catch((error: unknown) =>
        context.log.warn({ error: describeError(error) }, "the receiver's heartbeat could not be written"),
      );
      await context.timers.sleep(MINUTE_MS, { signal: stop.signal, ref: false }).catch(() => undefined);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await beats;
    },
  };
}

export async function recordHeartbeat(context: Context): Promise<void> {
  const now = context.clock.now();
  const minute = new Date(Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS);
  const last_arrival_at = await findLastArrival(context);
  const before = await context.db
    .selectFrom('receiver_minutes')
    .select('minute')
    .orderBy('minute', 'desc')
    .limit(1)
    .executeTakeFirst();
  await context.db
    .insertInto('receiver_minutes')
    .values({ minute, last_arrival_at })
    .onDuplicateKeyUpdate({ last_arrival_at })
    .execute();
  // counted from the beat before: the last one before a long outage stays, for it tells when that began
  if (!before) return;
  await context.db
    .deleteFrom('receiver_minutes')
    .where('minute', '<', new Date(before.minute.getTime() - HEARTBEAT_RETENTION_DAYS * 24 * 60 * MINUTE_MS))
    .execute();
}

/** A repeat is an arrival too. */
export async function findLastArrival(context: Context): Promise<Date | null> {
  const newest = (table: 'webhooks' | 'webhook_repeats') =>
    context.db.selectFrom(table).select('received_at').orderBy('seq', 'desc').limit(LAST_ROWS).execute();
  const times = [...(await newest('webhooks')), ...(await newest('webhook_repeats'))].map((row) =>
    row.received_at.getTime(),
  );
  return times.length > 0 ? new Date(Math.max(...times)) : null;
}
