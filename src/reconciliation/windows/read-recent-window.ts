/**
 * Reads what is new in today or yesterday, between two readings of the whole day. A recent reading rests on a complete one
 * that is at most WHOLE_EVERY_MS old: on its head (provider/list/read-recent). It applies the rows that it sees and checks
 * the count. It concludes nothing about other rows: none is absent, and no day is proven. In doubt the day is read whole.
 *
 * Changes of older rows come by webhooks and by shows of open transactions. The next whole reading finds the others.
 */
import type { Context } from '../../context.ts';
import { addDays } from '../../domain/calendar.ts';
import { describeError } from '../../log.ts';
import type { ListPage, ListQuery, ProviderClient } from '../../provider/client.ts';
import type { ListReading } from '../../provider/list/read-list.ts';
import { learnHead, type RecentReading, readRecent } from '../../provider/list/read-recent.ts';
import { ProviderError } from '../../provider/provider-error.ts';
import { blocksAllRequests } from '../../provider/schedule-requests.ts';
import { applyPage, createAppliedCounter } from './apply-page.ts';
import { readBounds } from './learn-bounds.ts';
import { isInWindow, toQueryDates } from './plan-windows.ts';
import { resolveSeenMismatches } from './resolve-seen-mismatches.ts';
import type { RunRef, WindowRef, WindowResult, WindowStep } from './run-ref.ts';
import { dropHead, readHead, type StoredHead, writeHead } from './store-head.ts';
import { createEvidenceWriter } from './store-pages.ts';

/** How old the complete reading below a recent one may be: how late a change is found that nothing announced. */
export const WHOLE_EVERY_MS = 3_600_000;

type Options = {
  /** @throws LeaseLost once another process has claimed the run. */
  checkLease: () => void;
};

/** @returns undefined where the day must be read whole. @throws LeaseLost; then nothing more is applied. */
export async function* readRecentWindow(
  context: Context,
  client: ProviderClient,
  run: RunRef,
  window: WindowRef,
  { checkLease }: Options,
): AsyncGenerator<WindowStep, WindowResult | undefined> {
  const query = run.how === 'recent' ? await findQuery(context, run, window) : undefined;
  const head = query && (await findHead(context, window));
  if (!query || !head) return undefined;
  const pages = readRecent(client, query, head, { belongs: (wall) => isInWindow(window, wall) });
  const { reading, seen, unreadable, count } = yield* applyPages(context, run, window, pages, checkLease);
  checkLease();
  if ('doubt' in reading) {
    const { doubt } = reading;
    context.log.info({ run: run.id, day: window.fromDay, doubt }, 'what is new in a day is in doubt; reading it whole');
    return undefined;
  }
  const readable = seen.difference(unreadable);
  await resolveSeenMismatches(context, { readable, listed: new Set(), askedAt: reading.askedAt });
  await writeHead(context, window.fromDay, { ...reading.head, wholeAt: head.wholeAt });
  const { askedAt, head: now } = reading;
  const result = { state: 'recent' as const, reason: undefined, passes: 0, pages: count, surplus: 0, askedAt };
  return { ...result, total: now.total, seen: seen.size };
}

/** Drops the head of a day that is about to be read whole: if that proves nothing, the next run reads it whole again. */
export async function forgetHead(context: Context, run: RunRef, window: WindowRef): Promise<void> {
  if (isRecentDay(context, run, window)) await dropHead(context, window.fromDay);
}

/** Stores the head of a day that was just read whole, if it has that many rows (LIMITS). A failure costs another whole reading. */
export async function* learnWindowHead(
  context: Context,
  client: ProviderClient,
  run: RunRef,
  window: WindowRef,
  { reading, checkLease }: Options & { reading: ListReading },
): AsyncGenerator<WindowStep, void> {
  if (!reading.complete || reading.seenRows.size < context.config.LIMITS.recentReadRows) return;
  const query = await findQuery(context, run, window);
  if (!query) return;
  const pages = learnHead(client, query, reading.seenRows, { belongs: (wall) => isInWindow(window, wall) });
  const learnt = (yield* applyPages(context, run, window, pages, checkLease)).reading;
  checkLease();
  if ('doubt' in learnt) {
    const { doubt } = learnt;
    context.log.info({ run: run.id, day: window.fromDay, doubt }, 'the order of the list was not learnt');
  } else await writeHead(context, window.fromDay, { ...learnt.head, wholeAt: reading.askedAt });
}

/** Today or yesterday, over all platforms: what the timetable reads again and again. */
function isRecentDay(context: Context, run: RunRef, { fromDay, toDay }: WindowRef): boolean {
  const today = context.calendar.dayOf(context.clock.now());
  return run.platform === null && fromDay === toDay && fromDay >= addDays(today, -1);
}

/** The query of exactly one recent day; undefined for other windows, and until the bounds of the list are learnt. */
async function findQuery(context: Context, run: RunRef, window: WindowRef): Promise<ListQuery | undefined> {
  const bounds = isRecentDay(context, run, window) ? await readBounds(context) : undefined;
  return bounds && toQueryDates(window, bounds);
}

/** The head of a day that a complete reading left; undefined where that is too old, or the day ended and it is no proof. */
async function findHead(context: Context, { fromDay }: WindowRef): Promise<StoredHead | undefined> {
  const head = await readHead(context, fromDay);
  const now = context.clock.now();
  const provableFrom = context.calendar.provableFrom(fromDay);
  const isOver = now >= provableFrom;
  const isOld = !head || now.getTime() - head.wholeAt.getTime() > WHOLE_EVERY_MS;
  return isOld || (isOver && head.wholeAt < provableFrom) ? undefined : head;
}

type Applied = { reading: RecentReading; seen: Set<string>; unreadable: Set<string>; count: number };

/** Applies pages as they arrive, and stores their evidence as that of pass 0. A page that fails is a doubt. */
async function* applyPages(
  context: Context,
  run: RunRef,
  window: WindowRef,
  pages: AsyncGenerator<ListPage, RecentReading>,
  checkLease: () => void,
): AsyncGenerator<WindowStep, Applied> {
  const storeEvidence = createEvidenceWriter(context, run, window, 'recent');
  const countApplied = createAppliedCounter(context, window);
  const [seen, unreadable] = [new Set<string>(), new Set<string>()];
  for (let count = 0; ; count++) {
    const next = await pages.next().catch(toDoubt(context));
    if (next.done) return { reading: next.value, seen, unreadable, count };
    const page = next.value;
    checkLease();
    await countApplied(await applyPage(context, run, window, page, unreadable));
    await storeEvidence({ ...page, pass: 0 });
    for (const row of page.rows) {
      const id = row.ok ? row.transaction.id : row.id;
      if (id !== null) seen.add(id);
    }
    yield { rows: page.rows.length, pages: 0, isNearEnd: false };
  }
}

function toDoubt(context: Context): (error: unknown) => { done: true; value: RecentReading } {
  return (error) => {
    const isOfPage = error instanceof ProviderError && !blocksAllRequests(error) && !context.signal.aborted;
    if (!isOfPage) throw error;
    context.log.warn({ error: describeError(error) }, "a page of a day's newest rows failed");
    return { done: true, value: { doubt: 'a page failed' } };
  };
}
