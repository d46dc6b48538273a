import { hash } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { checkBody } from './check-body.ts';
import type { Spooled } from './spool-format.ts';
import { type Arrival, type Kept, writeInHalves, writeInTransaction } from './write-arrivals.ts';

/**
 * Commits what the spool held, each arrival once: one that the inbox took at that very instant is not a repeat, but the
 * same arrival, kept by a commit that was given up too early or by a drain that was killed. Such a commit may still end
 * beside this one: then one of both meets the other's key, and this one looks again.
 * @returns those that the database refuses for what they hold.
 */
export async function writeSpooled(context: Context, records: Spooled[]): Promise<Spooled[]> {
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

async function writeMissing(trx: Transaction<Database>, arrivals: Arrival[]): Promise<Kept[]> {
  const known = await readKnown(trx, arrivals);
  const missing = arrivals.filter((one) => !known.has(keyOf(one.hash, one.receivedAt)));
  if (missing.length > 0) await writeInTransaction(trx, missing);
  return arrivals.map((one) => ({ duplicate: !missing.includes(one) }));
}

/** Of these bodies, every arrival that the inbox knows. */
async function readKnown(trx: Transaction<Database>, arrivals: Arrival[]): Promise<Set<string>> {
  const rows = await trx
    .selectFrom('webhooks')
    .leftJoin('webhook_repeats', 'webhook_repeats.webhook_seq', 'webhooks.seq')
    .select(['webhooks.hash', 'webhooks.received_at', 'webhook_repeats.received_at as repeated_at'])
    .where(
      'webhooks.hash',
      'in',
      arrivals.map((one) => one.hash),
    )
    .execute();
  return new Set(
    rows.flatMap((row) => [
      keyOf(row.hash, row.received_at),
      ...(row.repeated_at ? [keyOf(row.hash, row.repeated_at)] : []),
    ]),
  );
}

const keyOf = (digest: Buffer, at: Date): string => `${digest.toString('latin1')} ${at.getTime()}`;
