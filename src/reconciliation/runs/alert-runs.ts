import { endAlerts, raiseAlerts } from '../../alerts/raise-alerts.ts';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { transact } from '../../database/transact.ts';
import { ConfereError } from '../../domain/errors.ts';
import type { ProviderClient } from '../../provider/client.ts';
import { summarize } from '../../texts/alerts/describe-alert.ts';
import { reportGivenUp } from '../watches/watch-provider.ts';
import type { RunRef } from '../windows/run-ref.ts';
import { findRecoveredAlerts, RUN_FAILED } from './find-recovered-alerts.ts';

/** A refused key is one cause and one alert for all runs. */
const KEY_ALERT = { name: 'provider_unauthorized', scope: 'provider' } as const;

/** One alert for each trigger: runs of other triggers read other days. */
const runAlert = (run: RunRef) => ({ name: RUN_FAILED, scope: run.trigger }) as const;

/** Scope of alerts raised before alerts were per trigger. Any run that ends without an error resolves them. */
const EARLIER_ALERT = { name: RUN_FAILED, scope: 'provider' } as const;

/** Failures of the provider: of all requests, or of a run's pages. */
const PROVIDER_CODES = ['provider_unavailable', 'provider_unreadable'];

/**
 * Raises the alert of a failed run, unless it fires already: one for a refused key, one for each trigger. If the provider fails
 * for other requests too, that is the one cause, and its alert fires instead.
 */
export async function raiseRunAlert(
  context: Context,
  run: RunRef,
  error: unknown,
  client: ProviderClient,
): Promise<void> {
  const code = error instanceof ConfereError ? error.code : undefined;
  if (code !== undefined && PROVIDER_CODES.includes(code) && (await reportGivenUp(context, client))) return;
  const { name, scope } = code === 'provider_unauthorized' ? KEY_ALERT : runAlert(run);
  const message = error instanceof ConfereError ? error.message : 'an unexpected failure';
  const said = summarize(name, { error: message, trigger: run.trigger, run: run.id });
  const alert = { name, severity: 'critical' as const, scope, ...said };
  await transact(
    context.db,
    async (trx) => {
      // the list alone refuses the key, which is known
      if (code === 'provider_unauthorized' && (await isProviderFailing(trx))) return;
      await raiseAlerts(trx, [alert], context.clock.now());
    },
    { retryDuplicates: true },
  );
  context.wakeUps.alerts.notify();
}

async function isProviderFailing(trx: Reader): Promise<boolean> {
  const firing = trx.selectFrom('alerts').select('seq').where('firing_scope', '=', 'provider_failing provider');
  return (await firing.executeTakeFirst()) !== undefined;
}

/**
 * Ends alerts after a run without an error. The provider accepts our key and serves the days of this trigger. Alerts of
 * other triggers end where runs have since proven the days that these should have read.
 */
export async function endRunAlert(context: Context, run: RunRef): Promise<void> {
  await transact(context.db, (trx) => endAlerts(trx, [KEY_ALERT, runAlert(run), EARLIER_ALERT], context.clock.now()));
  const recovered = await findRecoveredAlerts(context.db);
  await transact(context.db, (trx) => endAlerts(trx, recovered, context.clock.now()));
  if (recovered.length > 0) context.wakeUps.alerts.notify();
}
