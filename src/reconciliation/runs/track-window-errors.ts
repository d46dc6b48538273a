import type { Context } from '../../context.ts';
import { ConfereError } from '../../domain/errors.ts';
import { describeError } from '../../log.ts';
import type { ProviderClient } from '../../provider/client.ts';
import { ProviderError } from '../../provider/provider-error.ts';
import { blocksAllRequests } from '../../provider/schedule-requests.ts';
import type { RunRef, WindowRef } from '../windows/run-ref.ts';
import { raiseRunAlert } from './alert-runs.ts';

/** After so many windows in a row that can't be had the provider is asked whether it is there at all. */
const BROKEN_WINDOWS_MAX = 3;

export type WindowErrorTracker = {
  /** @returns whether what a window met says that the others need not be tried. */
  recordError(window: WindowRef, error: unknown): Promise<boolean>;
  /** A window was concluded. */
  recordSuccess(): void;
  /** Tells of broken windows before the run is given back, and writes them down: whoever claims it tries none of them again. */
  saveErrors(): Promise<void>;
  /** @throws what the first broken window met. */
  throwFirstError(): void;
};

/**
 * Windows that can't be had stay unproven, and fail the run in the end: days that are broken, however many, keep no other
 * unread. A provider that is away does: nothing else is tried, and what is left is there for who goes on.
 * @param before what the first window met that was broken at an earlier claim of this run.
 */
export function trackWindowErrors(
  context: Context,
  client: ProviderClient,
  run: RunRef,
  before: string | undefined,
): WindowErrorTracker {
  let first = before === undefined ? undefined : { error: new ConfereError('provider_unavailable', before) };
  const broken: { window: WindowRef; message: string }[] = [];
  let inARow = 0;
  return {
    async recordError(window, error) {
      // a page, or a show, that can't be had says nothing of other windows
      const ofWindow = error instanceof ProviderError && !blocksAllRequests(error) && !context.signal.aborted;
      if (!ofWindow) return true;
      context.log.warn({ error: describeError(error), run: run.id, day: window.fromDay }, 'a window could not be read');
      first ??= { error };
      broken.push({ window, message: error.message });
      inARow++;
      return inARow % BROKEN_WINDOWS_MAX === 0 && (await isAway(context, client));
    },
    recordSuccess() {
      inARow = 0;
    },
    async saveErrors() {
      if (!first || broken.length === 0) return;
      await raiseRunAlert(context, run, first.error);
      for (const { window, message } of broken) {
        await context.db.updateTable('run_windows').set({ error: message }).where('seq', '=', window.seq).execute();
      }
    },
    throwFirstError() {
      if (first) throw first.error;
    },
  };
}

/** Whether it does not answer for today either: what the broken windows have in common is then not in them. */
async function isAway(context: Context, client: ProviderClient): Promise<boolean> {
  const today = context.calendar.dayOf(context.clock.now());
  try {
    await client.listPage({ initialDate: today, finalDate: today }, 1);
    return false;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return !['provider_rejected', 'provider_not_found'].includes(error.code);
  }
}
