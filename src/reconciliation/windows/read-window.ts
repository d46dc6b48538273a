/**
 * Reads one window of days completely, or says that it could not: every page is applied as it comes, its evidence is
 * kept, and only a reading that proved itself concludes anything about what is absent from it.
 */
import type { Context } from '../../context.ts';
import type { WallTime } from '../../domain/calendar.ts';
import type { ProviderClient } from '../../provider/client.ts';
import { REFUSED_DIGEST, type StoredPage } from '../../provider/list/collect-rows.ts';
import { readList } from '../../provider/list/read-list.ts';
import type { SeenRows } from '../../provider/list/seen-rows.ts';
import type { Semaphore } from '../../runtime/semaphore.ts';
import { readAcceptedSurplus } from './accept-surplus.ts';
import { applyPage, createAppliedCounter } from './apply-page.ts';
import { fetchAbsent } from './fetch-absent.ts';
import { fetchInconsistent } from './fetch-inconsistent.ts';
import { learnBounds, readBounds } from './learn-bounds.ts';
import { isInWindow, listEndedDays, toQueryDates } from './plan-windows.ts';
import { resolveSeenMismatches } from './resolve-seen-mismatches.ts';
import type { RunRef, WindowRef, WindowResult } from './run-ref.ts';
import { createEvidenceWriter, readStoredPages } from './store-pages.ts';

/** The provider's clock and ours may differ by this much when new rows are told from old ones. */
const CLOCK_LEEWAY_MS = 5 * 60_000;

export type ReadOptions = {
  /** Throws once another process has taken the run up, or the run stops: then nothing more is applied. */
  checkLease: () => void;
  /** Is told of each page, for progress. */
  onPage: (rows: number) => void;
  /** Holds the pages that the run has under way. */
  semaphore: Semaphore;
  /** Called when the last of so many pages are about to be asked for. */
  onNearEnd: (pages: number) => void;
};

export async function readWindow(
  context: Context,
  client: ProviderClient,
  run: RunRef,
  window: WindowRef,
  options: ReadOptions,
): Promise<WindowResult> {
  const bounds = await readBounds(context);
  const asked = toQueryDates(window, bounds);
  const query = { ...asked, ...(run.platform ? { platform: run.platform } : {}) };
  const queryName = `${asked.initialDate} ${asked.finalDate} ${run.platform ?? ''}`;
  const evidence = createEvidenceWriter(context, run, window, queryName);
  const kept = await findKept(context, window, queryName, asked.finalDate);
  const refused = listRefused(kept);
  const count = createAppliedCounter(context, window);
  const reading = await readList(client, query, {
    now: () => context.clock.now(),
    growsSince: (began) => growsSince(context, asked.finalDate, began),
    onPage: async (page) => {
      options.checkLease();
      await count(await applyPage(context, run, window, page, refused));
      await evidence(page);
      options.onPage(page.rows.length);
    },
    surplus: await readAcceptedSurplus(
      context.db,
      run.platform,
      listEndedDays(window, context.calendar.dayOf(context.clock.now())),
    ),
    semaphore: options.semaphore,
    onLastPages: options.onNearEnd,
    storedPages: kept,
  });
  options.checkLease();
  const inside = lookInside(reading.seenRows, window);
  const listed = reading.complete ? inside : new Set<string>();
  const readable = { has: (id: string): boolean => inside.has(id) && !refused.has(id) };
  await resolveSeenMismatches(context, { readable, listed, askedAt: reading.askedAt });
  await count(
    await fetchInconsistent(context, client, run, new Set([...reading.inconsistentIds].filter((id) => inside.has(id)))),
  );
  if (reading.complete) {
    const { checkLease } = options;
    const read = { ids: inside, askedAt: reading.askedAt };
    await count(await fetchAbsent(context, client, run, window, read, { checkLease }));
    if (!bounds && !run.platform) await learnBounds(context, client, reading.seenRows);
  }
  const { complete, reason: why, passes, pages, surplus, askedAt } = reading;
  const seen = inside.count();
  // until the bounds are learnt, rows of the days around are announced and read with the window's own
  const total = Math.max(0, reading.total - (reading.seenRows.size - seen));
  return { state: complete ? 'complete' : 'incomplete', reason: why, passes, pages, total, seen, surplus, askedAt };
}

/** What of a reading belongs to the window; looked up, as a copy of a day of a million rows is no small thing. */
function lookInside(ids: SeenRows, window: WindowRef) {
  const isInside = (wall: WallTime | undefined): boolean => wall === undefined || isInWindow(window, wall);
  return {
    has: (id: string): boolean => ids.has(id) && isInside(ids.createdWallOf(id)),
    count(): number {
      let count = 0;
      for (const { wall } of ids.entries()) if (isInside(wall)) count++;
      return count;
    },
  };
}

/** Pages that a process which died had read. Those of a day that was still running then are read again. */
async function findKept(
  context: Context,
  window: WindowRef,
  queryName: string,
  finalDate: string,
): Promise<Map<number, Map<number, StoredPage>>> {
  const kept = await readStoredPages(context, window, queryName);
  const ended = [...kept].filter(([, pages]) => {
    const began = pages.get(1)?.askedAt;
    return began !== undefined && growsSince(context, finalDate, began) === undefined;
  });
  return new Map(ended);
}

/** Ids whose row could not be read by who read these pages. */
function listRefused(kept: Map<number, Map<number, StoredPage>>): Set<string> {
  const rows = [...kept.values()].flatMap((pages) => [...pages.values()].flatMap((page) => page.rows));
  return new Set(rows.flatMap(({ id, digest }) => (id !== null && digest === REFUSED_DIGEST ? [id] : [])));
}

/** The wall clock since when new rows are growth; undefined where the range asked for is over. */
function growsSince(context: Context, finalDate: string, began: Date): WallTime | undefined {
  const today = context.calendar.dayOf(began);
  return finalDate < today ? undefined : context.calendar.toWallTime(new Date(began.getTime() - CLOCK_LEEWAY_MS));
}
