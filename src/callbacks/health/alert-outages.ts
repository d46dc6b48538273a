import type { Context } from '../../context.ts';
import { WARN_AFTER_MS } from './merchant-health.ts';

/** Something about a merchant that ops should know. */
export type MerchantOutage = {
  kind: 'merchant_failing' | 'merchant_disabled';
  merchantId: string;
  since: Date;
};

/**
 * Tells of each merchant that has had no success for a day, and of each that was disabled. It is marked as told
 * afterwards, so it is told at least once, whatever happens in between; its next success ends it.
 */
export async function alertOutages(
  context: Context,
  onTrouble: (trouble: MerchantOutage) => Promise<void> | void,
): Promise<void> {
  const now = context.clock.now();
  const dayAgo = new Date(now.getTime() - WARN_AFTER_MS);
  const rows = await context.db
    .selectFrom('merchants')
    .select(['seq', 'id', 'state', 'failing_since'])
    .where('deleted_at', 'is', null)
    .where('warned_at', 'is', null)
    .where((eb) =>
      eb.or([eb('state', '=', 'disabled'), eb.and([eb('state', '=', 'enabled'), eb('failing_since', '<=', dayAgo)])]),
    )
    .execute();
  for (const row of rows) {
    const kind = row.state === 'disabled' ? 'merchant_disabled' : 'merchant_failing';
    const since = row.failing_since ?? now;
    context.log.warn({ merchant: row.id, since, kind }, 'a merchant takes no callbacks');
    await onTrouble({ kind, merchantId: row.id, since });
    // only of the state that was told: it may have been enabled meanwhile, and then what was told is over
    await context.db
      .updateTable('merchants')
      .set((eb) => ({
        warned_at: eb.case().when('state', '=', row.state).then(now).else(null).end(),
        recovered_at: eb.case().when('state', '=', row.state).then(eb.ref('recovered_at')).else(now).end(),
      }))
      .where('seq', '=', row.seq)
      .execute();
  }
}

/** Tells of each merchant that was in trouble and has taken a callback again, or was removed: at least once, too. */
export async function alertRecoveries(
  context: Context,
  onRecovery: (merchantId: string) => Promise<void> | void,
): Promise<void> {
  const rows = await context.db
    .selectFrom('merchants')
    .select(['seq', 'id', 'recovered_at'])
    .where('recovered_at', 'is not', null)
    .execute();
  for (const row of rows) {
    await onRecovery(row.id);
    await context.db
      .updateTable('merchants')
      .set({ recovered_at: null })
      .where('seq', '=', row.seq)
      .where('recovered_at', '=', row.recovered_at)
      .execute();
  }
}
