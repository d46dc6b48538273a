import type { Transaction } from 'kysely';
import type { Database } from '../../database/tables.ts';

/** A spool that does not report for this long counts as gone: 10 min while others report, a day if it is the only one. */
const GONE_MS = 10 * 60_000;
const GONE_ALONE_MS = 24 * 3_600_000;

/**
 * The instant up to which all received webhooks are in the inbox and split: none received earlier waits in a spool or
 * to be split. Webhooks expected later can't be called lost yet.
 * @returns undefined while a spool is being drained.
 */
export async function findWebhooksCompleteUntil(trx: Transaction<Database>, now: Date): Promise<Date | undefined> {
  const spools = await trx.selectFrom('spools').selectAll().execute();
  const ago = (ms: number): Date => new Date(now.getTime() - ms);
  const steady = spools.some((one) => one.seen_at > ago(GONE_MS) && one.since <= ago(GONE_MS));
  const counted = spools.filter((one) => one.seen_at > ago(steady ? GONE_MS : GONE_ALONE_MS));
  if (counted.some((one) => one.is_waiting === 1)) return undefined;
  // read after the spools: webhooks that they drained before their report are visible here
  const unsplit = await trx
    .selectFrom('webhooks')
    .select((eb) => eb.fn.min('received_at').as('received_at'))
    .where('state', '=', 'received')
    .executeTakeFirst();
  const instants = [now, ...counted.map((one) => one.seen_at), ...(unsplit?.received_at ? [unsplit.received_at] : [])];
  return new Date(Math.min(...instants.map((at) => at.getTime())));
}
