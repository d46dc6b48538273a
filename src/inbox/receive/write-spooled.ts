import { hash } from 'node:crypto';
import type { Context } from '../../context.ts';
import { isOutcomeUnknown, isPacketTooLarge, transact } from '../../database/transact.ts';
import type { SpooledWebhook } from '../spool/spool-format.ts';
import { checkBody } from './check-body.ts';
import { insertMissingArrivals } from './insert-arrivals.ts';
import { writeByBisection } from './write-arrivals.ts';

/**
 * Commits what the spool held, each arrival once: one that the inbox took at that very instant is not a repeat, but the
 * same arrival, kept by a commit that was given up too early or by a drain that was killed. Such a commit may still end
 * beside this one: then one of both meets the other's key, and this one looks again. What is too much for one packet, or
 * makes the database hang up again and again, is written in halves.
 * @returns those that the database refuses for what they hold.
 */
export async function writeSpooled(context: Context, records: SpooledWebhook[]): Promise<SpooledWebhook[]> {
  try {
    return await writeTogether(context, records);
  } catch (error) {
    if (records.length === 1 || !(isPacketTooLarge(error) || isOutcomeUnknown(error))) throw error;
    const middle = Math.ceil(records.length / 2);
    const first = await writeSpooled(context, records.slice(0, middle));
    return [...first, ...(await writeSpooled(context, records.slice(middle)))];
  }
}

async function writeTogether(context: Context, records: SpooledWebhook[]): Promise<SpooledWebhook[]> {
  const arrivals = records.map((record) => ({
    ...record,
    hash: hash('sha256', record.body, 'buffer'),
    defect: checkBody(record.body).defect,
  }));
  const kept = await writeByBisection(arrivals, (some) =>
    transact(context.db, (trx) => insertMissingArrivals(trx, some), { retryDuplicates: true }),
  );
  return records.filter((_, index) => kept[index]?.refused);
}
