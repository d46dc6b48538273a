import type { Context } from '../../context.ts';
import { MINUTE_MS } from '../../domain/calendar.ts';
import { largest } from '../../domain/lists.ts';
import { describeError } from '../../log.ts';
import { MINUTES_RETENTION_DAYS } from './detect-silence.ts';

/** After an outage the minute is there before anybody takes the receiver for dead. */
const RETRY_MS = 10_000;
/** Drained webhooks are older than rows before them: the newest arrival is among the last rows. */
const LAST_ROWS = 50;

/**
 * Writes a row once a minute: that a receiver is alive, and its newest arrival. `detectSilence` reads them. All
 * replicas write the same row. While the database is unavailable nothing is written: a receiver without proof that it was
 * up counts as down.
 */
export function startReceiverMinutes(context: Context): AsyncDisposable {
  const stop = new AbortController();
  const writing = (async () => {
    while (!stop.signal.aborted) {
      const waitMs = await recordReceiverMinute(context).then(
        () => MINUTE_MS,
        (error: unknown) => {
          context.log.warn({ error: describeError(error) }, "the receiver's minute could not be written");
          return RETRY_MS;
        },
      );
      await context.timers.sleep(waitMs, { signal: stop.signal, ref: false }).catch(() => undefined);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await writing;
    },
  };
}

export async function recordReceiverMinute(context: Context): Promise<void> {
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
  // relative to the previous row: the last one before a long outage stays, as it dates the outage
  if (!before) return;
  await context.db
    .deleteFrom('receiver_minutes')
    .where('minute', '<', new Date(before.minute.getTime() - MINUTES_RETENTION_DAYS * 24 * 60 * MINUTE_MS))
    .execute();
}

/** @returns the newest arrival of a webhook or a repeat. */
export async function findLastArrival(context: Context): Promise<Date | null> {
  const newest = (table: 'webhooks' | 'webhook_repeats') =>
    context.db.selectFrom(table).select('received_at').orderBy('seq', 'desc').limit(LAST_ROWS).execute();
  const times = [...(await newest('webhooks')), ...(await newest('webhook_repeats'))].map((row) =>
    row.received_at.getTime(),
  );
  return times.length > 0 ? new Date(largest(times)) : null;
}
