import type { Context } from '../../context.ts';
import { describeError } from '../../log.ts';
import type { ProviderClient } from '../../provider/client.ts';
import { ProviderError } from '../../provider/provider-error.ts';
import { blocksAllRequests } from '../../provider/schedule-requests.ts';
import { failure, type Said, saidBy, storeError } from '../../texts/messages.ts';
import { askList } from '../watches/watch-provider.ts';
import type { RunRef, WindowRef } from '../windows/run-ref.ts';
import { raiseRunAlert } from './alert-runs.ts';

/** After this many consecutive broken windows, check whether the provider answers at all. */
const BROKEN_WINDOWS_MAX = 3;

export type WindowErrorTracker = {
  /** @returns whether the error stops the run: it applies to all windows. */
  recordError(window: WindowRef, error: unknown): Promise<boolean>;
  recordSuccess(): void;
  /** Before the run is released: alerts, and stores the errors, so that the next claim does not try these windows again. */
  saveErrors(): Promise<void>;
  /** @throws the error of the first broken window. */
  throwFirstError(): void;
};

/**
 * Tracks windows that can't be read. They stay unproven and fail the run in the end, but any number of them delays no
 * other window. A provider that does not answer at all stops the run: the next claim resumes it.
 * @param before the error of the first window that broke at an earlier claim of this run.
 */
export function trackWindowErrors(
  context: Context,
  client: ProviderClient,
  run: RunRef,
  before: Said | undefined,
): WindowErrorTracker {
  let first = before === undefined ? undefined : { error: failure('provider_unavailable', before) };
  const broken: { window: WindowRef; said: Said }[] = [];
  let consecutive = 0;
  return {
    async recordError(window, error) {
      // a page or a show that fails says nothing about other windows
      const ofWindow = error instanceof ProviderError && !blocksAllRequests(error) && !context.signal.aborted;
      if (!ofWindow) return true;
      context.log.warn(
        { error: describeError(error), run: run.id, day: window.fromDay },
        'reading a window failed; the run continues with the next one',
      );
      first ??= { error };
      broken.push({ window, said: saidBy(error) });
      consecutive++;
      // where today is not answered either, the broken windows are not the cause
      return consecutive % BROKEN_WINDOWS_MAX === 0 && !(await askList(context, client));
    },
    recordSuccess() {
      consecutive = 0;
    },
    async saveErrors() {
      if (!first || broken.length === 0) return;
      await raiseRunAlert(context, run, first.error, client);
      for (const { window, said } of broken) {
        await context.db.updateTable('run_windows').set(storeError(said)).where('seq', '=', window.seq).execute();
      }
    },
    throwFirstError() {
      if (first) throw first.error;
    },
  };
}
