import { endAlerts, raiseAlerts } from '../../alerts/raise-alerts.ts';
import type { Context } from '../../context.ts';
import { transact } from '../../database/transact.ts';
import { ConfereError } from '../../domain/errors.ts';
import type { RunRef } from '../windows/run-ref.ts';
import { findRecoveredAlerts, RUN_FAILED } from './find-recovered-alerts.ts';

/** A refused key is one cause and one alert, whichever run meets it. */
const KEY_ALERT = { name: 'provider_unauthorized', scope: 'provider' } as const;

/** What fails the runs of one trigger says nothing of others: they read other days. */
const runAlert = (run: RunRef) => ({ name: RUN_FAILED, scope: run.trigger }) as const;

/** As all failed runs were told of before: any run that goes to its end is the end of such a one. */
const EARLIER_ALERT = { name: RUN_FAILED, scope: 'provider' } as const;

/** Raises what fires not yet: one alert for a refused key, one for all runs of a trigger. */
export async function raiseRunAlert(context: Context, run: RunRef, error: unknown): Promise<void> {
  const code = error instanceof ConfereError ? error.code : undefined;
  const { name, scope } = code === 'provider_unauthorized' ? KEY_ALERT : runAlert(run);
  const summary = `${name}: ${error instanceof ConfereError ? error.message : 'an unexpected failure'} (${run.trigger}, run ${run.id})`;
  const alert = { name, severity: 'critical' as const, scope, summary };
  await transact(context.db, (trx) => raiseAlerts(trx, [alert], context.clock.now()), { retryDuplicates: true });
  context.wakeUps.alerts.notify();
}

/**
 * A run that went to its end is evidence that the provider takes our key, and that its trigger's days can be had; and
 * those of other triggers, where it or another one has proven since what they were to read.
 */
export async function endRunAlert(context: Context, run: RunRef): Promise<void> {
  await transact(context.db, (trx) => endAlerts(trx, [KEY_ALERT, runAlert(run), EARLIER_ALERT], context.clock.now()));
  const madeGood = await findRecoveredAlerts(context.db);
  await transact(context.db, (trx) => endAlerts(trx, madeGood, context.clock.now()));
  if (madeGood.length > 0) context.wakeUps.alerts.notify();
}
