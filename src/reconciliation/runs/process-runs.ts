/**
 * Takes up queued runs, and runs whose process died, until the signal. A run's windows are proven one by one and stay
 * proven: who takes a run over goes on with those that are not, in the middle of a window's pass if need be.
 */
import type { Context } from '../../context.ts';
import { isTransient, transact } from '../../database/transact.ts';
import { ConfereError } from '../../domain/errors.ts';
import { LOOKBACK_DAYS } from '../../domain/late-days.ts';
import { describeError } from '../../log.ts';
import type { ProviderClient } from '../../provider/client.ts';
import { ProviderError } from '../../provider/provider-error.ts';
import { IN_PLACE_WAIT_MS_MAX } from '../../provider/schedule-requests.ts';
import { createWakeSignal, runWorkerLoop, type WakeSignal } from '../../runtime/wake-signal.ts';
import { holdLease, LeaseLostError } from '../windows/hold-lease.ts';
import type { RunRef } from '../windows/run-ref.ts';
import { endRunAlert, raiseRunAlert } from './alert-runs.ts';
import { checkExpectedWebhooks } from './check-expected-webhooks.ts';
import { claimRun, type RunFilter, releaseRun } from './claim-run.ts';
import { finishRun } from './finish-run.ts';
import { planRun } from './plan-run.ts';
import { DaysBusyError, type ProcessOptions, processWindows } from './process-windows.ts';

const IDLE_MS = 1_000;
const SHORT_DAYS_MAX = 8;
/** A run that the database failed is taken up again after so long. */
const DATABASE_PAUSE_MS = 5_000;
/**
 * So long others have a lane before a run looks again for days that another one reads. Many times what a look takes, or
 * those that wait, being the oldest, would keep all lanes among themselves.
 */
const BUSY_DAYS_PAUSE_MS = 2_000;
/** The worker's loop. */
export async function processRuns(context: Context, client: ProviderClient): Promise<void> {
  const lane = (name: string, bell: WakeSignal, only: RunFilter): Promise<void> =>
    runWorkerLoop({
      name,
      wakeUp: bell,
      idleMs: IDLE_MS,
      context,
      work: async () => {
        const run = await claimRun(context, only);
        // one that waited here would keep its lane from runs of other days, today's too
        if (run) await executeRun(context, client, run, { onBusy: 'throw' });
        return run !== undefined;
      },
    });
  // a backfill of years must not keep the timetable's days waiting, nor those the last ones: each has a lane
  await Promise.all([
    lane('runs', context.wakeUps.runs, {}),
    lane('runs of late days', createWakeSignal(context.timers), { daysMax: LOOKBACK_DAYS + 1, includeOpen: true }),
    lane('short runs', createWakeSignal(context.timers), { daysMax: SHORT_DAYS_MAX }),
  ]);
}

/** Reads the windows of a claimed run that are not proven yet, and writes how it ended; or why it is given back. */
export async function executeRun(
  context: Context,
  client: ProviderClient,
  run: RunRef,
  options: ProcessOptions = {},
): Promise<void> {
  using lease = holdLease(context, run);
  const requests = countRequests(context, run);
  try {
    const sender = client.withPriority('settled', requests.add);
    const plan = await planRun(context, sender, run);
    await processWindows(context, sender, run, plan, { ...options, lease, requests });
    await settleOwed(context, run);
    lease.check();
    await requests.write();
    await finishRun(context, run, undefined);
    await endRunAlert(context, run);
  } catch (error) {
    await requests.write().catch(() => undefined);
    await endBadly(context, run, error);
  }
}

/** The watch does so every minute too: what the run has proven does not hang on it. */
async function settleOwed(context: Context, run: RunRef): Promise<void> {
  await checkExpectedWebhooks(context, run).catch((error: unknown) => {
    context.log.error({ error: describeError(error), run: run.id }, 'lost webhooks could not be told after a run');
  });
}

async function endBadly(context: Context, run: RunRef, error: unknown): Promise<void> {
  const waitMs = error instanceof ProviderError ? (error.retryAfterMs ?? 0) : 0;
  if (error instanceof LeaseLostError) {
    context.log.warn({ run: run.id }, 'another process has taken this run up');
  } else if (context.signal.aborted) {
    await releaseRun(context, run);
  } else if (error instanceof DaysBusyError) {
    context.log.debug({ run: run.id }, 'a run waits: others read its days');
    await releaseRun(context, run, { ms: BUSY_DAYS_PAUSE_MS, why: 'waits for days that another run reads' });
  } else if (waitMs > IN_PLACE_WAIT_MS_MAX) {
    const why = `waits for the provider, which asked for ${Math.ceil(waitMs / 1000)} s`;
    context.log.warn({ run: run.id, wait_ms: waitMs }, 'a run waits: the provider asked to be left alone');
    await releaseRun(context, run, { ms: waitMs, why });
  } else if (isTransient(error)) {
    context.log.warn({ error: describeError(error), run: run.id }, 'a run waits: the database failed it for a moment');
    await releaseRun(context, run, { ms: DATABASE_PAUSE_MS, why: 'waits for the database' });
  } else {
    context.log.error({ error: describeError(error), run: run.id }, 'a reconciliation run failed');
    const message = error instanceof ConfereError ? error.message : 'an unexpected failure: see the log';
    await finishRun(context, run, message);
    await raiseRunAlert(context, run, error);
  }
}

/** The requests that a run sends, written down from time to time: what a killed process had not written is lost. */
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
      // as a sum, not as so many more: a commit whose answer was lost is made again
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
