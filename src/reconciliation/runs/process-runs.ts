/**
 * Claims queued runs, and runs whose process died, until the signal. Start reading here. A run's windows are proven one
 * by one and stay proven: a process that resumes a run continues with the others, also in the middle of a pass.
 */
import type { Context } from '../../context.ts';
import { isDatabaseAway } from '../../database/open/explain-failure.ts';
import { isTransient, transact } from '../../database/transact.ts';
import { ConfereError } from '../../domain/errors.ts';
import { LOOKBACK_DAYS } from '../../domain/late-days.ts';
import { describeError } from '../../log.ts';
import type { ProviderClient } from '../../provider/client.ts';
import { ProviderError } from '../../provider/provider-error.ts';
import { IN_PLACE_WAIT_MS_MAX } from '../../provider/schedule-requests.ts';
import { LeaseLostError } from '../../runtime/hold-lease.ts';
import { createWakeSignal, runWorkerLoop, type WakeSignal } from '../../runtime/wake-signal.ts';
import { message, saidBy } from '../../texts/messages.ts';
import { currentTraceparent, inSpan } from '../../tracing/in-span.ts';
import type { RunRef } from '../windows/run-ref.ts';
import { endRunAlert, raiseRunAlert } from './alert-runs.ts';
import { checkExpectedWebhooks } from './check-expected-webhooks.ts';
import { claimRun, holdRunLease, type RunFilter, releaseRun, selectClaimable } from './claim-run.ts';
import { finishRun } from './finish-run.ts';
import { planRun } from './plan-run.ts';
import { DaysBusyError, type ProcessOptions, processWindows } from './process-windows.ts';

/** For runs that another process started. */
const IDLE_MS = 2_000;
const SHORT_DAYS_MAX = 8;
/** A run that failed because of the database is claimed again after this. */
const DATABASE_PAUSE_MS = 5_000;
/**
 * How long a blocked run yields its worker before it checks again for days that another run reads. Many times the length
 * of a check: otherwise the blocked runs, being the oldest, would occupy all workers.
 */
const BUSY_DAYS_PAUSE_MS = 2_000;

/** Runs that one process works on at once. */
export const RUN_WORKERS = 3;

/** Runs RUN_WORKERS workers: for all runs, for runs of late days, and for short runs. */
export async function processRuns(context: Context, client: ProviderClient): Promise<void> {
  const isAnyClaimable = () => [selectClaimable(context.db, context.clock.now()).select('seq')];
  const startWorker = (name: string, wakeUp: WakeSignal, only: RunFilter): Promise<void> =>
    runWorkerLoop({
      name,
      wakeUp,
      idleMs: IDLE_MS,
      context,
      hasWork: () => context.poll(isAnyClaimable),
      work: async () => {
        const run = await claimRun(context, only);
        // a run that waited here would block this worker for runs of other days, today's too
        if (run) await executeRun(context, client, run, { onBusy: 'throw' });
        return run !== undefined;
      },
    });
  // separate workers: a long backfill must not delay the scheduled runs, nor these the newest days
  await Promise.all([
    startWorker('runs', context.wakeUps.runs, {}),
    startWorker('runs of late days', createWakeSignal(context.timers), {
      daysMax: LOOKBACK_DAYS + 1,
      includeOpen: true,
    }),
    startWorker('short runs', createWakeSignal(context.timers), { daysMax: SHORT_DAYS_MAX }),
  ]);
}

/** Proves the remaining windows of a claimed run, and writes its result; or releases it with the reason. */
export async function executeRun(
  context: Context,
  client: ProviderClient,
  run: RunRef,
  options: ProcessOptions = {},
): Promise<void> {
  const { id, trigger, from, to, how } = run;
  const attributes = {
    'confere.run': id,
    'confere.trigger': trigger,
    'confere.days': `${from}/${to}`,
    'confere.how': how,
  };
  const work = () => proveRun(context, client, run, options);
  await inSpan('reconciliation.run', attributes, work, { parent: run.traceparent });
}

async function proveRun(context: Context, client: ProviderClient, run: RunRef, options: ProcessOptions): Promise<void> {
  await using lease = holdRunLease(context, run);
  const requests = countRequests(context, run);
  try {
    await storeTrace(context, run);
    const sender = client.withPriority('settled', requests.add);
    const plan = await planRun(context, sender, run);
    await processWindows(context, sender, run, plan, { ...options, lease, requests });
    await checkLostWebhooks(context, run);
    lease.check();
    await requests.write();
    await finishRun(context, run, undefined);
    await endRunAlert(context, run);
  } catch (error) {
    await requests.write().catch(() => undefined);
    await endWithError(context, client, run, error);
  }
}

/** A process that resumes the run continues its trace. */
async function storeTrace(context: Context, run: RunRef): Promise<void> {
  const traceparent = currentTraceparent();
  if (traceparent === undefined || run.traceparent !== null) return;
  await context.db.updateTable('runs').set({ traceparent }).where('seq', '=', run.seq).execute();
}

/** A failure does not fail the run: the watch repeats this check every minute. */
async function checkLostWebhooks(context: Context, run: RunRef): Promise<void> {
  await checkExpectedWebhooks(context, run).catch((error: unknown) => {
    context.log.error(
      { error: describeError(error), run: run.id },
      'checking expected webhooks after a run failed; the watch repeats it',
    );
  });
}

async function endWithError(context: Context, client: ProviderClient, run: RunRef, error: unknown): Promise<void> {
  const waitMs = error instanceof ProviderError ? (error.retryAfterMs ?? 0) : 0;
  if (error instanceof LeaseLostError) {
    context.log.warn({ run: run.id }, 'the lease of a run was lost; another process resumes it');
  } else if (context.signal.aborted) {
    await releaseRun(context, run);
  } else if (error instanceof DaysBusyError) {
    context.log.debug({ run: run.id }, 'a run waits: other runs read its days');
    await releaseRun(context, run, { ms: BUSY_DAYS_PAUSE_MS, why: message('run.waits_days') });
  } else if (waitMs > IN_PLACE_WAIT_MS_MAX) {
    const why = message('run.waits_provider', { s: Math.ceil(waitMs / 1000) });
    context.log.warn({ run: run.id, wait_ms: waitMs }, 'a run waits: the provider asked for a pause');
    await releaseRun(context, run, { ms: waitMs, why });
  } else if (isTransient(error) || isDatabaseAway(error)) {
    context.log.warn({ error: describeError(error), run: run.id }, 'a run waits: the database failed');
    await releaseRun(context, run, { ms: DATABASE_PAUSE_MS, why: message('run.waits_database') });
  } else {
    context.log.error({ error: describeError(error), run: run.id }, 'a reconciliation run failed');
    await finishRun(context, run, error instanceof ConfereError ? saidBy(error) : [message('run.unexpected')]);
    await raiseRunAlert(context, run, error, client);
  }
}

/** Counts the requests of a run and stores the count from time to time. A kill loses what was not stored yet. */
function countRequests(context: Context, run: RunRef): { add: () => void; write: () => Promise<void> } {
  let sent = 0;
  let written = 0;
  return {
    add: () => {
      sent++;
    },
    async write() {
      if (written === sent) return;
      const now = sent;
      // as a sum, not as an increment: a commit whose answer was lost is repeated
      const requests = run.requestsBefore + now;
      await transact(context.db, (trx) =>
        trx
          .updateTable('runs')
          .set({ requests })
          .where('seq', '=', run.seq)
          .where('lease_holder', '=', run.holder)
          .execute(),
      );
      written = now;
    },
  };
}
