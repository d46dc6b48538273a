/**
 * Proves the windows of a run, in order of days. Each is taken before it is asked for (see lease-days): one that another
 * run reads is left for later, and waited for once nothing else is left, here or by giving the run back. While the last
 * pages of a long window are on their way the next one is begun, so that the provider is never waited for with nothing
 * asked; both share one room of pages under way, and no third is begun before the first is concluded.
 */
import type { Context } from '../../context.ts';
import type { ProviderClient } from '../../provider/client.ts';
import { PAGES_IN_FLIGHT } from '../../provider/list/read-list.ts';
import { createSemaphore } from '../../runtime/semaphore.ts';
import { countWindow } from '../windows/count-window.ts';
import { finishWindow } from '../windows/finish-window.ts';
import type { Lease } from '../windows/hold-lease.ts';
import { leaseWindow, releaseWindow } from '../windows/lease-window.ts';
import { priorityOf } from '../windows/plan-windows.ts';
import { type ReadOptions, readWindow } from '../windows/read-window.ts';
import type { RunRef, WindowRef, WindowResult } from '../windows/run-ref.ts';
import { type RunPlan, replanRun } from './plan-run.ts';
import { trackWindowErrors } from './track-window-errors.ts';

/** Of a shorter window no pages are kept (see keep-pages): a kill costs one of those, never two. */
const READ_AHEAD_PAGES_MIN = 10;
/** How often days that another run reads are looked at again. */
const BUSY_DAYS_MS = 500;

/** What was done so far; told after each page, and while it waits. `seen`: rows of pages of this process. */
export type OnProgress = (done: { windows: number; of: number; seen: number; waits: boolean }) => void;

/** All that is left of a run is being read by others, and whoever works it has more to do than to wait for them. */
export class DaysBusyError extends Error {
  override name = 'DaysBusy';
}

export type ProcessOptions = {
  onProgress?: OnProgress;
  /** What to do once others read all that is left: wait for them (the default), or throw DaysBusy. */
  onBusy?: 'wait' | 'throw';
};
type Work = ProcessOptions & { lease: Lease; requests: { write(): Promise<void> } };
/** Takes the first of these windows that no other run reads. */
type Take = (windows: WindowRef[]) => Promise<WindowRef | undefined>;
type Begun = {
  window: WindowRef;
  /** Whether its last pages are on their way; false once it ended without. */
  nearEnd: Promise<boolean>;
  /** What it failed with; undefined where it is concluded. */
  ended: Promise<{ error: unknown } | undefined>;
};

/**
 * @throws what the first broken window met, once all others were tried: one day can't keep the later ones unread.
 * @throws DaysBusy where asked to; no day is held then.
 */
export async function processWindows(
  context: Context,
  sender: ProviderClient,
  run: RunRef,
  plan: RunPlan,
  { lease, requests, onProgress = () => undefined, onBusy = 'wait' }: Work,
): Promise<void> {
  const done = { windows: plan.concluded, of: plan.concluded + plan.planned.length, seen: 0 };
  const onPage = (rows: number): void => {
    done.seen += rows;
    onProgress({ ...done, waits: false });
  };
  const onWait = async (): Promise<void> => {
    if (onBusy === 'throw') {
      await troubles.saveErrors();
      throw new DaysBusyError(`others read all that is left of run ${run.id}`);
    }
    onProgress({ ...done, waits: true });
  };
  await using readers = openReaders(context, sender, run, { lease, onPage });
  const troubles = trackWindowErrors(context, sender, run, plan.firstError);
  let left = plan.planned;
  const begin = (window: WindowRef | undefined): Begun | undefined => {
    left = left.filter((one) => one !== window);
    return window && readers.begin(window);
  };
  let ahead: Begun | undefined;
  for (
    let now = begin(await awaitWindow(context, run, left, { lease, take: readers.take, onWait }));
    now;
    now = ahead
  ) {
    ahead = undefined;
    // never waited for while a day is held
    if (await now.nearEnd) ahead = begin(await readers.take(left.filter(isDay)));
    const failed = await now.ended;
    if (failed && (await troubles.recordError(now.window, failed.error))) throw failed.error;
    if (!failed) {
      troubles.recordSuccess();
      await requests.write();
      done.windows++;
      // wide ones are cut into days as soon as the bounds are known
      if (!isDay(now.window)) left = await replanRun(context, run, left);
      done.of = Math.max(done.of, done.windows + left.length);
      onProgress({ ...done, waits: false });
    }
    ahead ??= begin(await awaitWindow(context, run, left, { lease, take: readers.take, onWait }));
  }
  troubles.throwFirstError();
}

/** Reads windows, each under the lease of its days. Disposed, it leaves what is begun at its next page, and waits for that. */
function openReaders(
  context: Context,
  sender: ProviderClient,
  run: RunRef,
  { lease, onPage }: { lease: Lease; onPage: ReadOptions['onPage'] },
) {
  const today = context.calendar.dayOf(context.clock.now());
  const room = createSemaphore(PAGES_IN_FLIGHT);
  const under = new Set<Promise<unknown>>();
  const kept = new Set<WindowRef>();
  let stopped: Error | undefined;
  const checkLease = (): void => {
    if (stopped) throw stopped;
    lease.check();
  };
  const giveBack = async (window: WindowRef): Promise<void> => {
    if (await releaseWindow(context, run, window)) kept.delete(window);
    else kept.add(window);
  };
  // what could not be given back is, first: others wait for it, and nobody may hold days while it waits
  const take: Take = async (windows) => {
    for (const window of [...kept]) await giveBack(window);
    return await leaseWindow(context, run, windows);
  };
  const work = async (window: WindowRef, onNearEnd: ReadOptions['onNearEnd']): Promise<void> => {
    try {
      const client = sender.withPriority(priorityOf(window, run, today));
      const result = await proveWindow(context, client, run, window, {
        checkLease,
        onPage,
        semaphore: room,
        onNearEnd,
      });
      checkLease();
      await finishWindow(context, run, window, result);
    } finally {
      await giveBack(window);
    }
  };
  return {
    take,
    begin(window: WindowRef): Begun {
      const near = Promise.withResolvers<boolean>();
      const onNearEnd = (pages: number): void => near.resolve(isDay(window) && pages > READ_AHEAD_PAGES_MIN);
      const ended = work(window, onNearEnd)
        .then(
          () => undefined,
          (error: unknown) => ({ error }),
        )
        .finally(() => {
          near.resolve(false);
          under.delete(ended);
        });
      under.add(ended);
      return { window, nearEnd: near.promise, ended };
    },
    async [Symbol.asyncDispose](): Promise<void> {
      stopped = new Error('the run stops');
      await Promise.all(under);
    },
  };
}

/** Takes the first window that no other run reads, for as long as `onWait` lets it; undefined when none is left. */
async function awaitWindow(
  context: Context,
  run: RunRef,
  left: WindowRef[],
  { lease, take, onWait }: { lease: Lease; take: Take; onWait: () => Promise<void> },
): Promise<WindowRef | undefined> {
  for (let waits = 0; left.length > 0; waits++) {
    lease.check();
    const window = await take(left);
    if (window) return window;
    await onWait();
    if (waits === 0) context.log.info({ run: run.id, windows: left.length }, 'a run waits: others read its days');
    await context.timers.sleep(BUSY_DAYS_MS, { signal: context.signal });
  }
  return undefined;
}

/** By counts where the run may and they prove it, else by reading the window whole. */
async function proveWindow(
  context: Context,
  client: ProviderClient,
  run: RunRef,
  window: WindowRef,
  options: ReadOptions,
): Promise<WindowResult> {
  const counted = await countWindow(context, client, run, window, options);
  return counted ?? (await readWindow(context, client, run, window, options));
}

function isDay(window: WindowRef): boolean {
  return window.fromDay === window.toDay;
}
