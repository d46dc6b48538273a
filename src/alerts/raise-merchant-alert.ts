import type { Context } from '../context.ts';
import { transact } from '../database/transact.ts';
import { endAlerts, raiseAlerts } from './raise-alerts.ts';

const NAMES = ['merchant_failing', 'merchant_disabled'] as const;

/** A merchant's endpoint that takes nothing any more: ops are told, once. */
export async function raiseMerchantAlert(
  context: Context,
  trouble: { kind: (typeof NAMES)[number]; merchantId: string; since: Date },
): Promise<void> {
  const alert = {
    name: trouble.kind,
    severity: 'high' as const,
    scope: trouble.merchantId,
    summary: `${trouble.kind}: merchant ${trouble.merchantId}, since ${trouble.since.toISOString()}`,
  };
  await transact(context.db, (trx) => raiseAlerts(trx, [alert], context.clock.now()), { retryDuplicates: true });
  context.wakeUps.alerts.notify();
}

/** It took a callback again. */
export async function endMerchantAlert(context: Context, merchantId: string): Promise<void> {
  const ends = NAMES.map((name) => ({ name, scope: merchantId }));
  await transact(context.db, (trx) => endAlerts(trx, ends, context.clock.now()));
  context.wakeUps.alerts.notify();
}
