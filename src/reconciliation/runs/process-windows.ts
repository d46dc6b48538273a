/**
 * Proves the windows of a run, in order of days. Each window's days are leased before it is read (see lease-window).
 * A window that another run reads is left for later. Once nothing else is left, the run waits for it or is released.
 *
 * While the last pages of a long window are in flight, the next window begins, so that the provider is never idle. Both
 * share one limit of pages in flight. No third window begins before the first is finished.
 */
import type { Context } from '../../context.ts';
import type { ProviderClient } from '../../provider/client.ts';
import { PAGES_IN_FLIGHT } from '../../provider/list/read-list.ts';
import type { HeldLease } from '../../runtime/hold-lease.ts';
import { createSemaphore } from '../../runtime/semaphore.ts';
import { countWindow } from '../windows/count-window.ts';
import { finishWindow } from '../windows/finish-window.ts';
import { leaseWindow, releaseWindow } from '../windows/lease-window.ts';
import { priorityOf } from '../windows/plan-windows.ts';
import { readRecentWindow } from '../windows/read-recent-window.ts';
import { type ReadOptions, readWindow } from '../windows/read-window.ts';
import type { RunRef, WindowRef, WindowResult, WindowStep } from '../windows/run-ref.ts';
import { type RunPlan, replanRun } from './plan-run.ts';
import { trackWindowErrors } from './track-window-errors.ts';

/** A shorter window stores no pages (see store-pages): a kill must cost one such window, never two. */
const READ_AHEAD_PAGES_MIN = 10;
/** Pause between two checks of days that another run reads. */
const BUSY_DAYS_MS = 500;

/** `seen`: rows of the pages that this process applied. */
type Progress = { windows: number; of: number; seen: number };
/** Called after each page, and while the run waits. */
export type OnProgress = (progress: Progress & { waits: boolean }) => void;

/** Other runs read all that is left of a run, and the caller has other work than to wait for them. */
export class DaysBusyError extends Error {
  override name = 'DaysBusy';
}

export type ProcessOptions = {
  onProgress?: OnProgress;
  /** Where other runs read all that is left: wait for them (the default), or throw DaysBusy. */
  onBusy?: 'wait' | 'throw';
};
type Work = ProcessOptions & { lease: Pick<HeldLease, 'check'>; requests: { write(): Promise<void> } };

/**
 * @throws the error of the first broken window, after all others were tried: one broken day must not block later days.
 * @throws DaysBusy where `onBusy` asks for it; no day is leased then.
 */
export async function processWindows(
  context: Context,
  sender: ProviderClient,
  run: RunRef,
  plan: RunPlan,
  { lease, requests, onProgress = () => undefined, onBusy = 'wait' }: Work,
): Promise<void> {
  const progress = { windows: plan.finished, of: plan.finished + plan.planned.length, seen: 0 };
  const report = (waits = false): void => onProgress({ ...progress, waits });
  const errors = trackWindowErrors(context, sender, run, plan.firstError);
  await using readers = openReaders(context, sender, run, lease, (rows) => {
    progress.seen += rows;
    report();
  });
  let left = plan.planned;
  const begin = (window: WindowRef | undefined): Reader | undefined => {
    left = left.filter((one) => one !== window);
    return window && readers.begin(window);
  };
  /** Begins the first window that no other run reads, and waits for one where it may; undefined when none is left. */
  const beginNext = async (): Promise<Reader | undefined> => {
    for (let waits = 0; left.length > 0; waits++) {
      lease.check();
      const window = await readers.lease(left);
      if (window) return begin(window);
      if (onBusy === 'throw') {
        await errors.saveErrors();
        throw new DaysBusyError(`other runs read all that is left of run ${run.id}`);
      }
      report(true);
      if (waits === 0)
        context.log.info({ run: run.id, windows: left.length }, 'a run waits: other runs read its remaining days');
      await context.timers.sleep(BUSY_DAYS_MS, { signal: context.signal });
    }
    return undefined;
  };

  let ahead: Reader | undefined;
  for (let now = await beginNext(); now; now = ahead) {
    ahead = undefined;
    // without waiting: no run may wait for days while it holds others
    if (await now.nearEnd) ahead = begin(await readers.lease(left.filter(isDay)));
    const failed = await now.ended;
    if (failed && (await errors.recordError(now.window, failed.error))) throw failed.error;
    if (!failed) {
      errors.recordSuccess();
      await requests.write();
      progress.windows++;
      // wide windows are cut into days as soon as the bounds are known
      if (!isDay(now.window)) left = await replanRun(context, run, left);
      progress.of = Math.max(progress.of, progress.windows + left.length);
      report();
    }
    ahead ??= await beginNext();
  }
  errors.throwFirstError();
}

type Reader = {
  window: WindowRef;
  /** True once the last pages of a long window are in flight; false where it ended before. */
  nearEnd: Promise<boolean>;
  /** The error of the window; undefined once it is finished. */
  ended: Promise<{ error: unknown } | undefined>;
};

/** Reads windows concurrently, each under the lease of its days. Disposal stops each at its next page, and waits for it. */
function openReaders(
  context: Context,
  sender: ProviderClient,
  run: RunRef,
  lease: Pick<HeldLease, 'check'>,
  countRows: (rows: number) => void,
) {
  const today = context.calendar.dayOf(context.clock.now());
  const semaphore = createSemaphore(PAGES_IN_FLIGHT);
  const running = new Set<Promise<unknown>>();
  const unreleased = new Set<WindowRef>();
  let stopped: Error | undefined;
  const checkLease = (): void => {
    if (stopped) throw stopped;
    lease.check();
  };
  const release = async (window: WindowRef): Promise<void> => {
    if (await releaseWindow(context, run, window)) unreleased.delete(window);
    else unreleased.add(window);
  };
  const readAndFinish = async (window: WindowRef, nearEnd: PromiseWithResolvers<boolean>): Promise<void> => {
    try {
      const client = sender.withPriority(priorityOf(window, run, today));
      const steps = proveWindow(context, client, run, window, { checkLease, semaphore });
      let step = await steps.next();
      for (; !step.done; step = await steps.next()) {
        const { rows, pages, isNearEnd } = step.value;
        countRows(rows);
        if (isNearEnd) nearEnd.resolve(isDay(window) && pages > READ_AHEAD_PAGES_MIN);
      }
      checkLease();
      await finishWindow(context, run, window, step.value);
    } finally {
      nearEnd.resolve(false);
      await release(window);
    }
  };
  return {
    /** Leases the first of these windows that no other run reads. */
    async lease(windows: WindowRef[]): Promise<WindowRef | undefined> {
      // first retry failed releases: other runs wait for these days, and no run may hold days while it waits
      for (const window of [...unreleased]) await release(window);
      return await leaseWindow(context, run, windows);
    },
    begin(window: WindowRef): Reader {
      const nearEnd = Promise.withResolvers<boolean>();
      const ended = readAndFinish(window, nearEnd)
        .then(
          () => undefined,
          (error: unknown) => ({ error }),
        )
        .finally(() => running.delete(ended));
      running.add(ended);
      return { window, nearEnd: nearEnd.promise, ended };
    },
    async [Symbol.asyncDispose](): Promise<void> {
      stopped = new Error('the run stops');
      await Promise.all(running);
    },
  };
}

/** Proves a window by counts, or reads what is new in it, where the run allows it; else reads it whole. */
async function* proveWindow(
  context: Context,
  client: ProviderClient,
  run: RunRef,
  window: WindowRef,
  options: ReadOptions,
): AsyncGenerator<WindowStep, WindowResult> {
  const counted = await countWindow(context, client, run, window, options);
  if (counted.rows > 0) yield { rows: counted.rows, pages: 0, isNearEnd: false };
  if (counted.result) return counted.result;
  const recent = yield* readRecentWindow(context, client, run, window, options);
  return recent ?? (yield* readWindow(context, client, run, window, options));
}

function isDay(window: WindowRef): boolean {
  return window.fromDay === window.toDay;
}
