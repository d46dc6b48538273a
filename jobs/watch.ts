import type { Context } from '../src/context.ts';
import { type ReconcileDays, watchSilence } from '../src/inbox/silence/watch-silence.ts';
import { retryLearntItems } from '../src/inbox/verify/retry-learnt-items.ts';
import { correctStoredHistories } from '../src/ledger/correct/correct-stored-histories.ts';
import { finishReposts } from '../src/ledger/stated/open-books.ts';
import { compareStatements } from '../src/ledger/stated/state-balance.ts';
import { watchFutureOpenings } from '../src/ledger/stated/watch-future-openings.ts';
import { describeError } from '../src/log.ts';
import { alertBaseline } from '../src/mismatches/alert-baseline.ts';
import { updateMismatchGauges } from '../src/mismatches/update-mismatch-gauges.ts';
import { updateUnsealedGauge } from '../src/proof/verify-sealed.ts';
import { updateGauges } from '../src/reconciliation/numbers/update-gauges.ts';
import { checkExpectedWebhooks } from '../src/reconciliation/runs/check-expected-webhooks.ts';
import { hasActiveRun, startRun } from '../src/reconciliation/runs/start-run.ts';
import { watchStuck } from '../src/reconciliation/watches/watch-stuck.ts';
import { watchZone } from '../src/reconciliation/watches/watch-zone.ts';

const STEPS: Record<string, (context: Context) => Promise<unknown>> = {
  settleOwedWebhooks: checkExpectedWebhooks,
  retryLearnt: retryLearntItems,
  watchStuck,
  watchZone,
  finishReposts,
  mendHistories: correctStoredHistories,
  compareStatements,
  watchStated: watchFutureOpenings,
  watchSilence: (context) => watchSilence(context, (days) => sweepGap(context, days)),
  tellBaseline: alertBaseline,
  countOpenMismatches: updateMismatchGauges,
  measureUnsealed: updateUnsealedGauge,
  countNumbers: updateGauges,
};

/**
 * What has to be seen within a minute: webhooks that did not come, unknown ones that are known by now, transactions that do not end, a wrong zone, silence.
 * @throws Error when a step failed, after all the others had their turn: each is logged by its name.
 */
export async function watch(context: Context): Promise<void> {
  const failed = new Map<string, unknown>();
  for (const [step, take] of Object.entries(STEPS)) {
    context.signal.throwIfAborted();
    try {
      await take(context);
    } catch (error) {
      context.log.error({ error: describeError(error), step }, 'a step of the watch failed');
      failed.set(step, error);
    }
  }
  if (failed.size === 0) return;
  const [cause] = failed.values();
  throw new Error(`steps of the watch failed: ${[...failed.keys()].join(', ')}`, { cause });
}

/** Queues a run of the days in which webhooks may have been missed; never a second one while the first is open. */
async function sweepGap(context: Context, days: Parameters<ReconcileDays>[0]): Promise<boolean> {
  if (await hasActiveRun(context, 'gap')) return false;
  await startRun(context, { ...days, trigger: 'gap', createdBy: 'confere' });
  return true;
}
