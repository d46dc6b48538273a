import { createHash } from 'node:crypto';
import type { Context } from '../context.ts';
import { createBell, poll } from '../database/poll.ts';
import { spoolBytes } from '../metrics/metrics.ts';
import { checkBody } from './check-body.ts';
import type { Spool } from './spool.ts';
import type { Spooled } from './spool-format.ts';
import { writeArrivals } from './write-arrivals.ts';

const IDLE_MS = 1_000;
const BATCH_RECORDS = 200;

/**
 * Moves what the spool holds into the inbox, in the order in which it came, as soon as the database takes it. A segment
 * is removed once all of it is committed. After a crash in between it is read again from its start: what the inbox holds
 * by then is known by its hash.
 */
export async function drainSpool(context: Context, spool: Spool): Promise<void> {
  await poll({
    name: 'spool',
    bell: createBell(),
    idleMs: IDLE_MS,
    log: context.log,
    signal: context.signal,
    work: async () => {
      for (const name of await spool.takeSegments()) await drainSegment(context, spool, name);
      spoolBytes.set(spool.bytes);
      return false;
    },
  });
}

async function drainSegment(context: Context, spool: Spool, name: string): Promise<void> {
  const { records, tornBytes } = spool.readSegment(name);
  if (tornBytes > 0) {
    context.log.warn(
      { segment: name, bytes: tornBytes },
      'the spool ends in a record that was cut off: never answered',
    );
  }
  for (let start = 0; start < records.length; start += BATCH_RECORDS) {
    await writeArrivals(context, await dropKept(context, records.slice(start, start + BATCH_RECORDS)));
  }
  await spool.removeSegment(name, records);
  context.log.info({ segment: name, webhooks: records.length }, 'drained the spool into the inbox');
  context.bells.inbox.ring();
}

/** Without those that the inbox took at that very instant: a commit that was slow, or a drain that was killed. */
async function dropKept(context: Context, records: Spooled[]) {
  const arrivals = records.map((record) => ({
    ...record,
    hash: createHash('sha256').update(record.body).digest(),
    fault: checkBody(record.body).fault,
  }));
  const rows = await context.db
    .selectFrom('webhooks')
    .leftJoin('webhook_repeats', 'webhook_repeats.webhook_seq', 'webhooks.seq')
    .select(['webhooks.hash', 'webhooks.received_at', 'webhook_repeats.received_at as repeated_at'])
    .where(
      'webhooks.hash',
      'in',
      arrivals.map((one) => one.hash),
    )
    .execute();
  const arrivalKey = (hash: Buffer, at: Date): string => `${hash.toString('base64')} ${at.getTime()}`;
  const kept = new Set(
    rows.flatMap((row) => [
      arrivalKey(row.hash, row.received_at),
      ...(row.repeated_at ? [arrivalKey(row.hash, row.repeated_at)] : []),
    ]),
  );
  return arrivals.filter((one) => !kept.has(arrivalKey(one.hash, one.receivedAt)));
}
