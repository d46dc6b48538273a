/** A process that only executes runs, as `confere reconcile` does, and reports the time of each. */
import { readConfig } from '../../src/config.ts';
import { type Context, openContext } from '../../src/context.ts';
import { createLog } from '../../src/log.ts';
import type { ProviderClient } from '../../src/provider/client.ts';
import { openClient } from '../../src/provider/open-client.ts';
import { findRun } from '../../src/reconciliation/numbers/read-runs.ts';
import { claimRun } from '../../src/reconciliation/runs/claim-run.ts';
import { executeRun } from '../../src/reconciliation/runs/process-runs.ts';
import { type RunRequest, startRun } from '../../src/reconciliation/runs/start-run.ts';

type Asked = Pick<RunRequest, 'from' | 'to' | 'how'>;

await serve();

async function serve(): Promise<void> {
  const stop = new AbortController();
  const config = readConfig(process.env, { provider: true });
  const context = await openContext(config, {
    log: createLog('warn', process.stderr),
    signal: stop.signal,
    migrates: true,
  });
  const client = openClient(context);
  process.on('message', (asked: Asked) => {
    void work(context, client, asked);
  });
  process.on('disconnect', () => {
    stop.abort();
    void client[Symbol.asyncDispose]()
      .then(() => context[Symbol.asyncDispose]())
      .finally(() => process.exit(0));
  });
  process.send?.({ ready: true });
}

async function work(context: Context, client: ProviderClient, asked: Asked): Promise<void> {
  const began = performance.now();
  const { id } = await startRun(context, { ...asked, trigger: 'bench', createdBy: 'bench' });
  const run = await claimRun(context, { id });
  if (run) await executeRun(context, client, run);
  const ms = performance.now() - began;
  process.send?.({
    run: await findRun(context.db, id),
    ms,
    peakMiB: process.resourceUsage().maxRSS / 1024,
    mem: process.memoryUsage(),
  });
}
