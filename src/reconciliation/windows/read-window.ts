/**
 * Reads one window of days completely, or reports that it could not. Every page is applied and its evidence stored.
 * Only a complete reading concludes what is absent from the list.
 */
import type { Context } from '../../context.ts';
import { CLOCK_LEEWAY_MS, type WallTime } from '../../domain/calendar.ts';
import type { ProviderClient } from '../../provider/client.ts';
import { REFUSED_DIGEST, type StoredPage } from '../../provider/list/collect-rows.ts';
import { type ListReading, PAGES_IN_FLIGHT, readList } from '../../provider/list/read-list.ts';
import type { SeenRows } from '../../provider/list/seen-rows.ts';
import type { FetchedPage } from '../../provider/list/sweep-pages.ts';
import type { Semaphore } from '../../runtime/semaphore.ts';
import { readAcceptedSurplus } from './accept-surplus.ts';
import { applyPage, createAppliedCounter } from './apply-page.ts';
import { fetchAbsent, fetchInconsistent } from './fetch-by-id.ts';
import { learnBounds, readBounds } from './learn-bounds.ts';
import { mapConcurrently } from './map-concurrently.ts';
import { isInWindow, listEndedDays, toQueryDates } from './plan-windows.ts';
import { forgetHead, learnWindowHead } from './read-recent-window.ts';
import { resolveSeenMismatches } from './resolve-seen-mismatches.ts';
import type { RunRef, WindowRef, WindowResult, WindowStep } from './run-ref.ts';
import { createEvidenceWriter, readStoredPages } from './store-pages.ts';

/** Pages are applied while as many others are in flight. */
const PAGES_APPLIED_MAX = PAGES_IN_FLIGHT;
/** With this many pages left to request, the last pages of a window are in flight or about to be. */
const LAST_PAGES = 2 * PAGES_IN_FLIGHT;

export type ReadOptions = {
  /** @throws LeaseLost once another process has claimed the run, or an error when the run stops. */
  checkLease: () => void;
  /** Limits the pages that the run has in flight. */
  semaphore: Semaphore;
};

/** Yields a step for each page that it applied. @throws LeaseLost; then nothing more is applied. */
export async function* readWindow(
  context: Context,
  client: ProviderClient,
  run: RunRef,
  window: WindowRef,
  { checkLease, semaphore }: ReadOptions,
): AsyncGenerator<WindowStep, WindowResult> {
  const bounds = await readBounds(context);
  await forgetHead(context, run, window);
  const dates = toQueryDates(window, bounds);
  const query = { ...dates, ...(run.platform ? { platform: run.platform } : {}) };
  const queryName = `${dates.initialDate} ${dates.finalDate} ${run.platform ?? ''}`;
  const storeEvidence = createEvidenceWriter(context, run, window, queryName);
  const storedPages = await findStoredPages(context, window, queryName, dates.finalDate);
  const unreadable = listRefusedIds(storedPages);
  const countApplied = createAppliedCounter(context, window);
  const applyOne = async (page: FetchedPage): Promise<WindowStep> => {
    checkLease();
    await countApplied(await applyPage(context, run, window, page, unreadable));
    await storeEvidence(page);
    const isNearEnd = page.pass === 1 && page.pagesToRequest <= LAST_PAGES;
    return { rows: page.rows.length, pages: page.pagesAnnounced, isNearEnd };
  };

  const pages = readList(client, query, {
    now: () => context.clock.now(),
    growsSince: (began) => growsSince(context, dates.finalDate, began),
    surplus: await readAcceptedSurplus(
      context.db,
      run.platform,
      listEndedDays(window, context.calendar, context.clock.now()),
    ),
    semaphore,
    storedPages,
  });
  const reading = yield* mapConcurrently(pages, PAGES_APPLIED_MAX, applyOne);
  checkLease();
  const inside = selectInside(reading.seenRows, window);
  const listed = reading.complete ? inside : new Set<string>();
  const readable = { has: (id: string): boolean => inside.has(id) && !unreadable.has(id) };
  await resolveSeenMismatches(context, { readable, listed, askedAt: reading.askedAt });
  const inconsistent = [...reading.inconsistentIds].filter((id) => inside.has(id));
  await countApplied(await fetchInconsistent(context, client, run, inconsistent, checkLease));
  if (reading.complete) {
    const read = { ids: inside, askedAt: reading.askedAt };
    await countApplied(await fetchAbsent(context, client, run, window, read, { checkLease }));
    if (!bounds && !run.platform) await learnBounds(context, client, reading.seenRows);
    yield* learnWindowHead(context, client, run, window, { reading, checkLease });
  }
  return toResult(reading, inside.count());
}

function toResult(reading: ListReading, seen: number): WindowResult {
  const { complete, reason, passes, pages, surplus, askedAt } = reading;
  // until the bounds are learnt, rows of the days around the window are announced and read with its own
  const total = Math.max(0, reading.total - (reading.seenRows.size - seen));
  return { state: complete ? 'complete' : 'incomplete', reason, passes, pages, total, seen, surplus, askedAt };
}

/** The rows of a reading that belong to the window. A view, not a copy: a day may hold a million rows. */
function selectInside(rows: SeenRows, window: WindowRef) {
  const isInside = (wall: WallTime | undefined): boolean => wall === undefined || isInWindow(window, wall);
  return {
    has: (id: string): boolean => rows.has(id) && isInside(rows.createdWallOf(id)),
    count(): number {
      let count = 0;
      for (const { wall } of rows.entries()) if (isInside(wall)) count++;
      return count;
    },
  };
}

/** Pages that a killed process had read. Pages of a day that was still running then are read again. */
async function findStoredPages(
  context: Context,
  window: WindowRef,
  queryName: string,
  finalDate: string,
): Promise<Map<number, Map<number, StoredPage>>> {
  const stored = await readStoredPages(context, window, queryName);
  const ended = [...stored].filter(([, pages]) => {
    const began = pages.get(1)?.askedAt;
    return began !== undefined && growsSince(context, finalDate, began) === undefined;
  });
  return new Map(ended);
}

/** Ids whose rows were unreadable to the process that stored these pages. */
function listRefusedIds(stored: Map<number, Map<number, StoredPage>>): Set<string> {
  const rows = [...stored.values()].flatMap((pages) => [...pages.values()].flatMap((page) => page.rows));
  return new Set(rows.flatMap(({ id, digest }) => (id !== null && digest === REFUSED_DIGEST ? [id] : [])));
}

/** The wall clock of creation from which on new rows count as growth; undefined where the queried range has ended. */
function growsSince({ calendar }: Context, finalDate: string, began: Date): WallTime | undefined {
  if (began >= calendar.provableFrom(finalDate)) return undefined;
  return calendar.toWallTime(new Date(began.getTime() - CLOCK_LEEWAY_MS));
}
