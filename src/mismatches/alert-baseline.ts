import { syncAlerts } from '../alerts/raise-alerts.ts';
import type { Context } from '../context.ts';
import { formatAmount } from '../domain/money.ts';
import { readOpenMismatches } from './read-open-mismatches.ts';

const ALERT = { name: 'baseline_mismatches', scope: 'before WEBHOOKS_SINCE', severity: 'medium' } as const;

/**
 * Alerts about the baseline: mismatches from before WEBHOOKS_SINCE, of which years of history may have many. One alert
 * counts the open ones by kind and ends with the last of them; each is listed and counted as any other.
 */
export async function alertBaseline(context: Context): Promise<void> {
  const kinds = await readOpenMismatches(context.db, { baseline: true });
  const count = kinds.reduce((total, kind) => total + kind.count, 0);
  const cents = kinds.reduce((total, kind) => total + kind.stakeCents, 0n);
  const list = kinds.map((kind) => `${kind.count} ${kind.kind}`).join(', ');
  const summary = `${ALERT.name}: ${count} from ${ALERT.scope}, R$ ${formatAmount(cents)}: ${list}`;
  await syncAlerts(context, ALERT.name, count === 0 ? [] : [{ ...ALERT, summary }]);
}
