import type { Context } from '../src/context.ts';
import { type Sweep, watchSilence } from '../src/inbox/watch-silence.ts';
import { countOpenMismatches } from '../src/ledger/count-open-mismatches.ts';
import { finishReposts } from '../src/ledger/open-books.ts';
import { compareStatements } from '../src/ledger/state-balance.ts';
import { tellBaseline } from '../src/ledger/tell-baseline.ts';
import { countNumbers } from '../src/reconciliation/count-numbers.ts';
import { settleOwedWebhooks } from '../src/reconciliation/settle-owed-webhooks.ts';
import { isUnderWay, startRun } from '../src/reconciliation/start-run.ts';
import { watchStuck } from '../src/reconciliation/watch-stuck.ts';
import { watchZone } from '../src/reconciliation/watch-zone.ts';

/** What has to be seen within a minute: webhooks that did not come, transactions that do not end, a wrong zone, silence. */
export async function watch(context: Context): Promise<void> {
  await settleOwedWebhooks(context);
  await watchStuck(context);
  await watchZone(context);
  await finishReposts(context);
  await compareStatements(context);
  await watchSilence(context, (days) => sweepGap(context, days));
  await tellBaseline(context);
  await countOpenMismatches(context);
  await countNumbers(context);
}

/** Queues a run of the days in which webhooks may have been missed; never a second one while the first is open. */
async function sweepGap(context: Context, days: Parameters<Sweep>[0]): Promise<boolean> {
  if (await isUnderWay(context, 'gap')) return false;
  await startRun(context, { ...days, trigger: 'gap', createdBy: 'confere' });
  return true;
}
