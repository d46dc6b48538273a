import { hash } from 'node:crypto';
import type { Context } from '../../context.ts';
import { isOutcomeUnknown, isTooLarge, transact } from '../../database/transact.ts';
import type { Spooled } from '../spool/spool-format.ts';
import { checkBody } from './check-body.ts';
import { writeInHalves } from './write-arrivals.ts';
import { writeMissing } from './write-in-transaction.ts';

/**
 * Commits what the spool held, each arrival once: one that the inbox took at that very instant is not a repeat, but the
 * same arrival, kept by a commit that was given up too early or by a drain that was killed. Such a commit may still end
 * beside this one: then one of both meets the other's key, and this one looks again. What is too much for one packet, or
 * makes the database hang up again and again, is written in halves.
 * @returns those that the database refuses for what they hold.
 */
export async function writeSpooled(context: Context, records: Spooled[]): Promise<Spooled[]> {
  try {
    return await writeTogether(context, records);
  } catch (error) {
    if (records.length === 1 || !(isTooLarge(error) || isOutcomeUnknown(error))) throw error;
    const middle = Math.ceil(records.length / 2);
    const first = await writeSpooled(context, records.slice(0, middle));
    return [...first, ...(await writeSpooled(context, records.slice(middle)))];
  }
}

async function writeTogether(context: Context, records: Spooled[]): Promise<Spooled[]> {
  const arrivals = records.map((record) => ({
    ...record,
    hash: hash('sha256', record.body, 'buffer'),
    fault: checkBody(record.body).fault,
  }));
  const kept = await writeInHalves(arrivals, (some) =>
    transact(context.db, (trx) => writeMissing(trx, some), { retryDuplicates: true }),
  );
  return records.filter((_, index) => kept[index]?.refused);
}
