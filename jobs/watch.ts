import { closeGaps } from '../src/backup/close-gaps.ts';
import type { Context } from '../src/context.ts';
import { ConfereError } from '../src/domain/errors.ts';
import { type ReconcileDays, watchSilence } from '../src/inbox/silence/watch-silence.ts';
import { retryLearntItems } from '../src/inbox/verify/retry-learnt-items.ts';
import { compareNewCharges } from '../src/ledger/stated/compare-charges.ts';
import { compareStatements } from '../src/ledger/stated/state-balance.ts';
import { finishReposts } from '../src/ledger/stated/state-opening.ts';
import { watchFutureOpenings } from '../src/ledger/stated/watch-future-openings.ts';
import { describeError } from '../src/log.ts';
import { disableBeyondLimits } from '../src/merchants/change-merchants.ts';
import { alertBaseline } from '../src/mismatches/alert-baseline.ts';
import { refreshMismatchAlerts } from '../src/mismatches/alert-mismatches.ts';
import { watchAddressChanges } from '../src/portal/watch-address-changes.ts';
import { countWebhookDays } from '../src/reconciliation/numbers/count-webhook-days.ts';
import { checkExpectedWebhooks } from '../src/reconciliation/runs/check-expected-webhooks.ts';
import { hasActiveRun, startRun } from '../src/reconciliation/runs/start-run.ts';
import { watchStuck } from '../src/reconciliation/watches/watch-stuck.ts';
import { watchZone } from '../src/reconciliation/watches/watch-zone.ts';
import { alertJobs } from '../src/timetable/alert-jobs.ts';
import { CONDITION_STEPS } from './watch-conditions.ts';

const STEPS: Record<string, (context: Context) => Promise<unknown>> = {
  // before webhooks are searched that the gap of a restore excuses
  closeGaps,
  checkExpectedWebhooks,
  retryLearntItems,
  watchStuck,
  watchZone,
  finishReposts,
  compareStatements,
  watchFutureOpenings,
  watchAddressChanges,
  compareNewCharges,
  watchSilence: (context) => watchSilence(context, (days) => sweepGap(context, days)),
  alertBaseline,
  alertJobs,
  refreshMismatchAlerts,
  ...CONDITION_STEPS,
  countWebhookDays,
  disableBeyondLimits,
};

/**
 * Runs the checks that must notice within a minute: missing webhooks, quarantined ones whose transaction is known now, stuck
 * transactions, a wrong time zone, silence, jobs that fail or do not run, and work of Confere's own that is late. Last,
 * it counts webhooks by day.
 * @throws ConfereError `unavailable` if any step failed, after all steps have run. Each failure is logged with the step's name.
 */
export async function watch(context: Context): Promise<void> {
  const failed = new Map<string, unknown>();
  for (const [step, run] of Object.entries(STEPS)) {
    context.signal.throwIfAborted();
    try {
      await run(context);
    } catch (error) {
      context.log.error({ error: describeError(error), step }, 'watch step failed; the next tick runs it again');
      failed.set(step, error);
    }
  }
  if (failed.size === 0) return;
  const [cause] = failed.values();
  throw new ConfereError('unavailable', `steps of the watch failed: ${[...failed.keys()].join(', ')}`, { cause });
}

/** Queues a run of the days in which webhooks may be missing, unless such a run is active. */
async function sweepGap(context: Context, days: Parameters<ReconcileDays>[0]): Promise<boolean> {
  if (await hasActiveRun(context, 'gap')) return false;
  await startRun(context, { ...days, trigger: 'gap', createdBy: 'confere' });
  return true;
}
