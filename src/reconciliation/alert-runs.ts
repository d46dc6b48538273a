import { endAlerts, raiseAlerts } from '../alerts/raise.ts';
import type { Context } from '../context.ts';
import { transact } from '../database/transact.ts';
import { ConfereError } from '../domain/errors.ts';
import type { RunRef } from './run-ref.ts';

const SCOPE = 'provider';

/** One cause is one alert, however many runs it fails: a refused key, or a provider that is away. */
export async function raiseRunAlert(context: Context, run: RunRef, error: unknown): Promise<void> {
  const code = error instanceof ConfereError ? error.code : undefined;
  const name = code === 'provider_unauthorized' ? 'provider_unauthorized' : 'run_failed';
  const summary = `${name}: ${error instanceof ConfereError ? error.message : 'an unexpected failure'} (run ${run.id})`;
  const alert = { name, severity: 'critical' as const, scope: SCOPE, summary };
  await transact(context.db, (trx) => raiseAlerts(trx, [alert], context.clock.now()), { retryDuplicates: true });
  context.bells.alerts.ring();
}

/** A run that ended well is evidence that the provider is there and takes our key. */
export async function endRunAlert(context: Context): Promise<void> {
  const ends = ['provider_unauthorized', 'run_failed'].map((name) => ({ name, scope: SCOPE }));
  await transact(context.db, (trx) => endAlerts(trx, ends, context.clock.now()));
}
