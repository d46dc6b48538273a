import type { Context } from '../src/context.ts';
import { retryLearnt } from '../src/inbox/retry-learnt.ts';
import { type Sweep, watchSilence } from '../src/inbox/watch-silence.ts';
import { countOpenMismatches } from '../src/ledger/count-open-mismatches.ts';
import { mendHistories } from '../src/ledger/mend-histories.ts';
import { finishReposts } from '../src/ledger/open-books.ts';
import { compareStatements } from '../src/ledger/state-balance.ts';
import { tellBaseline } from '../src/ledger/tell-baseline.ts';
import { measureUnsealed } from '../src/ledger/verify-sealed.ts';
import { watchStated } from '../src/ledger/watch-stated.ts';
import { describeError } from '../src/log.ts';
import { countNumbers } from '../src/reconciliation/count-numbers.ts';
import { settleOwedWebhooks } from '../src/reconciliation/settle-owed-webhooks.ts';
import { isUnderWay, startRun } from '../src/reconciliation/start-run.ts';
import { watchStuck } from '../src/reconciliation/watch-stuck.ts';
import { watchZone } from '../src/reconciliation/watch-zone.ts';

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
