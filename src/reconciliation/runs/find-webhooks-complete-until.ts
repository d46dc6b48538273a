import type { Transaction } from 'kysely';
import type { Database } from '../../database/tables.ts';

/** A spool that is silent for so long, while others report without a break, is gone; alone, after a day. */
const GONE_MS = 10 * 60_000;
const GONE_ALONE_MS = 24 * 3_600_000;

/**
 * Up to which instant all arrivals stand in the inbox, taken apart: nothing that came before it waits in a receiver's
 * spool or for its turn. What came later can't be judged as absent yet.
 * @returns undefined while a spool is being drained.
 */
export async function findWebhooksCompleteUntil(trx: Transaction<Database>, now: Date): Promise<Date | undefined> {
  const spools = await trx.selectFrom('spools').selectAll().execute();
  const ago = (ms: number): Date => new Date(now.getTime() - ms);
  const steady = spools.some((one) => one.seen_at > ago(GONE_MS) && one.since <= ago(GONE_MS));
  const counted = spools.filter((one) => one.seen_at > ago(steady ? GONE_MS : GONE_ALONE_MS));
  if (counted.some((one) => one.is_waiting === 1)) return undefined;
  // read after the spools: what they drained before they said so is seen here
  const untaken = await trx
    .selectFrom('webhooks')
    .select((eb) => eb.fn.min('received_at').as('received_at'))
    .where('state', '=', 'received')
    .executeTakeFirst();
  const instants = [now, ...counted.map((one) => one.seen_at), ...(untaken?.received_at ? [untaken.received_at] : [])];
  return new Date(Math.min(...instants.map((at) => at.getTime())));
}
