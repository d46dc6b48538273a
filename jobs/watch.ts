import type { Context } from '../src/context.ts';
import { type Sweep, watchSilence } from '../src/inbox/silence/watch-silence.ts';
import { retryLearnt } from '../src/inbox/verify/retry-learnt.ts';
import { mendHistories } from '../src/ledger/correct/correct-stored-histories.ts';
import { finishReposts } from '../src/ledger/stated/open-books.ts';
import { compareStatements } from '../src/ledger/stated/state-balance.ts';
import { watchStated } from '../src/ledger/stated/watch-stated.ts';
import { describeError } from '../src/log.ts';
import { tellBaseline } from '../src/mismatches/alert-baseline.ts';
import { countOpenMismatches } from '../src/mismatches/count-open-mismatches.ts';
import { measureUnsealed } from '../src/proof/verify-sealed.ts';
import { countNumbers } from '../src/reconciliation/numbers/count-numbers.ts';
import { settleOwedWebhooks } from '../src/reconciliation/runs/settle-owed-webhooks.ts';
import { isUnderWay, startRun } from '../src/reconciliation/runs/start-run.ts';
import { watchStuck } from '../src/reconciliation/watches/watch-stuck.ts';
import { watchZone } from '../src/reconciliation/watches/watch-zone.ts';

const STEPS: Record<string, (context: Context) => Promise<unknown>> = {
  settleOwedWebhooks,
  retryLearnt,
  watchStuck,
  watchZone,
  finishReposts,
  mendHistories,
  compareStatements,
  watchStated,
  watchSilence: (context) => watchSilence(context, (days) => sweepGap(context, days)),
  tellBaseline,
  countOpenMismatches,
  measureUnsealed,
  countNumbers,
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
async function sweepGap(context: Context, days: Parameters<Sweep>[0]): Promise<boolean> {
  if (await isUnderWay(context, 'gap')) return false;
  await startRun(context, { ...days, trigger: 'gap', createdBy: 'confere' });
  return true;
}
