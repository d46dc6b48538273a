import type { Context } from '../context.ts';
import { transact } from '../database/transact.ts';
import { maskText } from '../domain/person/mask-person.ts';
import { summarize } from '../texts/alerts/describe-alert.ts';
import { endAlerts, raiseAlerts } from './raise-alerts.ts';

const NAMES = ['merchant_failing', 'merchant_disabled'] as const;

/** Raises an alert about a merchant whose endpoint fails, or is disabled. */
export async function raiseMerchantAlert(
  context: Context,
  outage: { kind: (typeof NAMES)[number]; merchantId: string; since: Date },
): Promise<void> {
  const { kind, merchantId, since } = outage;
  const row = await context.db.selectFrom('merchants').select('name').where('id', '=', merchantId).executeTakeFirst();
  const merchantName = maskText(row?.name ?? '');
  const said = summarize(kind, { merchant: merchantId, merchantName, since: since.toISOString() });
  const alert = { name: kind, severity: 'high' as const, scope: merchantId, ...said };
  await transact(context.db, (trx) => raiseAlerts(trx, [alert], context.clock.now()), { retryDuplicates: true });
  context.wakeUps.alerts.notify();
}

/** Ends the alerts about a merchant that has recovered. */
export async function endMerchantAlert(context: Context, merchantId: string): Promise<void> {
  const ends = NAMES.map((name) => ({ name, scope: merchantId }));
  await transact(context.db, (trx) => endAlerts(trx, ends, context.clock.now()));
  context.wakeUps.alerts.notify();
}
