import { syncAlerts } from '../alerts/raise-alerts.ts';
import type { Context } from '../context.ts';
import { maskText } from '../domain/person/mask-person.ts';
import { summarize } from '../texts/alerts/describe-alert.ts';
import { listWaiting, presentAddressChange } from './address-changes.ts';

/** Alerts that changes of address wait for an admin, one a merchant: no mail is sent, and after 48 hours they are void. */
export async function watchAddressChanges(context: Context): Promise<void> {
  const waiting = (await listWaiting(context, context.db, {})).filter((one) =>
    presentAddressChange(one).waits_for.includes('admin'),
  );
  // the oldest of each merchant
  const oldest = new Map(waiting.toReversed().map((one) => [one.merchant, one]));
  const alerts = [...oldest.values()].map(({ merchant, merchant_name: name, asked_at: since }) => ({
    ...{ scope: merchant, severity: 'medium' as const },
    ...summarize('address_change_waits', { merchant, merchantName: maskText(name), since: since.toISOString() }),
  }));
  await syncAlerts(context, 'address_change_waits', alerts);
}
