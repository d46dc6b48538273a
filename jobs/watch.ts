import type { Context } from '../src/context.ts';
import { countOpenMismatches } from '../src/ledger/count-open-mismatches.ts';
import { compareStatements } from '../src/ledger/state-balance.ts';
import { settleOwedWebhooks } from '../src/reconciliation/settle-owed-webhooks.ts';
import { watchStuck } from '../src/reconciliation/watch-stuck.ts';

/** What has to be seen within a minute: webhooks that did not come, transactions that do not end. */
export async function watch(context: Context): Promise<void> {
  await settleOwedWebhooks(context);
  await watchStuck(context);
  await compareStatements(context);
  await countOpenMismatches(context);
}
