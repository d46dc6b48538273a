import { hash } from 'node:crypto';
import type { Context } from '../../context.ts';
import { isOutcomeUnknown, isPacketTooLarge, transact } from '../../database/transact.ts';
import { bisect } from '../../runtime/bisect.ts';
import { mapInTurns } from '../../runtime/take-turns.ts';
import type { SpooledWebhook } from '../spool/spool-format.ts';
import { checkBody } from './check-body.ts';
import { insertMissingArrivals } from './insert-arrivals.ts';
import { writeByBisection } from './write-arrivals.ts';

/**
 * Commits spooled webhooks, each arrival once. A row with the same hash and instant is the same arrival, not a repeat: from
 * a commit that timed out, or from a drain that was killed. That commit may still end in parallel: then a duplicate key
 * makes this one run again. A batch that exceeds one packet, or makes the database hang up repeatedly, is halved.
 * @returns the webhooks that the database refuses for their data.
 */
export async function writeSpooled(context: Context, records: SpooledWebhook[]): Promise<SpooledWebhook[]> {
  return await bisect(records, (some) => writeTogether(context, some), {
    isSplittable: (error) => isPacketTooLarge(error) || isOutcomeUnknown(error),
  });
}

async function writeTogether(context: Context, records: SpooledWebhook[]): Promise<SpooledWebhook[]> {
  const arrivals = await mapInTurns(records, (record) => ({
    ...record,
    hash: hash('sha256', record.body, 'buffer'),
    defect: checkBody(record.body).defect,
  }));
  const outcomes = await writeByBisection(arrivals, (some) =>
    transact(context.db, (trx) => insertMissingArrivals(trx, some), { retryDuplicates: true }),
  );
  return records.filter((_, index) => outcomes[index]?.dataError);
}
