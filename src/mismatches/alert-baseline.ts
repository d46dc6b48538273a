import { syncAlerts } from '../alerts/raise-alerts.ts';
import type { Context } from '../context.ts';
import { summarize } from '../texts/alerts/describe-alert.ts';
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
  const byKind = Object.fromEntries(kinds.map((kind) => [kind.kind, kind.count]));
  const said = summarize(ALERT.name, { count, cents: String(cents), kinds: byKind });
  await syncAlerts(context, ALERT.name, count === 0 ? [] : [{ ...ALERT, ...said }]);
}
