import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';

/** An outage of a merchant's endpoint, to be reported to ops. */
export type MerchantOutage = {
  kind: 'merchant_failing' | 'merchant_disabled';
  merchantId: string;
  since: Date;
};

/** Whether `alertOutages` or `alertRecoveries` may have something to report of a merchant. */
export function mayNeedAlert(merchant: {
  state: string;
  failing_since: Date | null;
  warned_at: Date | null;
  recovered_at: Date | null;
}): boolean {
  const { state, failing_since, warned_at, recovered_at } = merchant;
  return recovered_at !== null || (warned_at === null && (state === 'disabled' || failing_since !== null));
}

/** Merchants that fail, or that `mayNeedAlert`. */
export function selectTroubled(db: Reader) {
  return db
    .selectFrom('merchants')
    .where((eb) =>
      eb.or([
        eb('failing_since', 'is not', null),
        eb('recovered_at', 'is not', null),
        eb.and([eb('state', '=', 'disabled'), eb('warned_at', 'is', null)]),
      ]),
    );
}

/**
 * Reports each merchant without a success for half an hour, and each disabled one. The merchant is marked after the report, so
 * each outage is reported at least once. The next success ends it.
 */
export async function alertOutages(
  context: Context,
  onOutage: (outage: MerchantOutage) => Promise<void> | void,
): Promise<void> {
  const now = context.clock.now();
  const failingSince = new Date(now.getTime() - context.config.LIMITS.callbackAlertMs);
  const rows = await context.db
    .selectFrom('merchants')
    .select(['seq', 'id', 'state', 'failing_since'])
    .where('deleted_at', 'is', null)
    .where('warned_at', 'is', null)
    .where((eb) =>
      eb.or([
        eb('state', '=', 'disabled'),
        eb.and([eb('state', '=', 'enabled'), eb('failing_since', '<=', failingSince)]),
      ]),
    )
    .execute();
  for (const row of rows) {
    const kind = row.state === 'disabled' ? 'merchant_disabled' : 'merchant_failing';
    const since = row.failing_since ?? now;
    context.log.warn({ merchant: row.id, since, kind }, 'a merchant accepts no callbacks');
    await onOutage({ kind, merchantId: row.id, since });
    // the merchant may have been enabled during the report: then the reported outage is over
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

/** Reports each merchant that has recovered from a reported outage, or was removed: at least once, too. */
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
