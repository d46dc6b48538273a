import type { Context } from '../../context.ts';
import { awaitsConfirmation } from '../../database/restores.ts';
import { holdsBack, PROBE_EVERY_MS } from '../health/merchant-health.ts';

/** A merchant as one round of the delivery loop reads it. */
export type DeliveryMerchant = {
  seq: number;
  id: string;
  rate: number | null;
  /** Its callbacks are held, as all are after a restore; test callbacks are sent anyway. */
  holdsBack: boolean;
  probeIsDue: boolean;
};

/** Reads all merchants that are not removed and have a URL. */
export async function readDeliveryMerchants(context: Context): Promise<DeliveryMerchant[]> {
  const now = context.clock.now();
  const unprobedSince = new Date(now.getTime() - PROBE_EVERY_MS);
  const rows = await context.db
    .selectFrom('merchants')
    .select(['seq', 'id', 'rate', 'state', 'deleted_at', 'breaker_opened_at', 'failing_since', 'probe_at'])
    .select(awaitsConfirmation().as('is_restored'))
    .where('deleted_at', 'is', null)
    .where('url', 'is not', null)
    .execute();
  return rows.map((row) => ({
    seq: row.seq,
    id: row.id,
    rate: row.rate,
    holdsBack: holdsBack(row) || Boolean(row.is_restored),
    probeIsDue:
      !row.is_restored &&
      row.state === 'enabled' &&
      row.failing_since !== null &&
      (row.probe_at ? row.probe_at <= now : row.failing_since <= unprobedSince),
  }));
}
