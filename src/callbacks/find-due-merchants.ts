import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { holdsBack, PROBE_EVERY_MS } from './merchant-health.ts';

/** A merchant as delivery sees it at one look. */
export type DeliveryMerchant = {
  seq: number;
  id: string;
  url: string;
  rate: number | null;
  /** Its callbacks are held; tests go out all the same. */
  holds: boolean;
  probeIsDue: boolean;
};

/** The merchants that have something due now: two index probes each. */
export async function findDueMerchants(context: Context): Promise<DeliveryMerchant[]> {
  const now = context.clock.now();
  const unprobedSince = new Date(now.getTime() - PROBE_EVERY_MS);
  const due = sql<number>`EXISTS (SELECT 1 FROM callbacks c WHERE c.merchant_seq = merchants.seq
    AND c.state = 'pending' AND c.next_attempt_at <= ${now})`;
  const rows = await context.db
    .selectFrom('merchants')
    .select(['seq', 'id', 'url', 'rate', 'state', 'deleted_at', 'breaker_opened_at', 'failing_since', 'probe_at'])
    .select(due.as('is_due'))
    .where('deleted_at', 'is', null)
    .execute();
  return rows
    .map((row) => ({
      seq: row.seq,
      id: row.id,
      url: row.url,
      rate: row.rate,
      holds: holdsBack(row),
      isDue: row.is_due === 1,
      probeIsDue:
        row.state === 'enabled' &&
        row.failing_since !== null &&
        (row.probe_at ? row.probe_at <= now : row.failing_since <= unprobedSince),
    }))
    .filter((merchant) => merchant.isDue || merchant.probeIsDue);
}
