/**
 * The order in which a pass requests pages, and how many it may request. Rows allow further requests, announced totals
 * do not: a provider that announced 99,999 pages beside 30 rows was sent 200,000 requests.
 */

import type { ListPage } from '../client.ts';
import { PAGE_ROWS } from './check-pass.ts';
import type { StoredPage } from './collect-rows.ts';

/** Requests that a pass may always send beyond the pages that brought rows: the page after the last, and one more. */
const SPARE_PAGES = 2;
/** Limit of partly new pages past the announced end. They are drift, and continue while rows are created. */
const PARTLY_NEW_MAX = 20;

export type RequestBudget = {
  recordRequest(): void;
  /** Called for each page that brought a row which the pass had not seen. */
  recordFilledPage(): void;
  /** @param ahead how many requests may be in flight at once. Pages that brought rows allow as many further ones. */
  maySend(ahead?: number): boolean;
};

/** @param pagesBefore how many pages the pass before had filled. */
export function createRequestBudget(pagesBefore: number): RequestBudget {
  let [sent, filled] = [0, 0];
  return {
    recordRequest: () => {
      sent++;
    },
    recordFilledPage: () => {
      filled++;
    },
    maySend: (ahead = 0) => sent < Math.max(filled, pagesBefore) + Math.max(SPARE_PAGES, Math.min(ahead, filled)),
  };
}

export type FetchedPage = ListPage & {
  pass: number;
  /** Stored until the window is finished. Undefined for a page that a resumed reading requests again. */
  pageToStore: StoredPage | undefined;
  /** How many pages the list has, by this page. */
  pagesAnnounced: number;
  /** How many announced pages the sweep has yet to request. */
  pagesToRequest: number;
};
/** `page`: undefined past the end. `fetched`: undefined past the end, and for a page that was stored by a killed process. */
export type PageAnswer = { page: StoredPage | undefined; fetched: FetchedPage | undefined };
/** Number of rows on a page, and how many of them the pass had not seen. */
export type RowCount = { found: number; fresh: number };

type Sweeper = {
  fetchPage: (page: number) => Promise<PageAnswer>;
  /** Counts the rows of a page into the pass. */
  countRows: (page: number, answer: PageAnswer) => RowCount;
  inFlightMax: number;
};
/** `from`: first page to request; `before`: row count of the page before it; `announced`: last page by `total`. */
type Range = { from: number; before: RowCount; announced: number; pagesMax: number };

/**
 * Reads pages from `from` on, until one brings no row, or nothing new past the announced end. Pages are yielded as they
 * arrive; their rows are counted in the order of pages. After a full page, the following announced pages are requested
 * concurrently, within the request budget. After any other page, one page is requested at a time.
 * @returns whether the last page brought nothing new.
 */
export async function* sweepForwards(
  { from, before, announced, pagesMax }: Range,
  { fetchPage, countRows, inFlightMax, requests }: Sweeper & { requests: RequestBudget },
): AsyncGenerator<FetchedPage, boolean> {
  const arrived = new Map<number, PageAnswer>();
  let [next, counted, partlyNew] = [from, from - 1, 0];
  let [last, isFull] = [before, before.found >= PAGE_ROWS];
  let largest = before.found;
  let ended = before.found === 0;
  const choosePage = (): number | undefined => {
    const isNext = counted === next - 1;
    const mayFollow = isNext || (isFull && next <= announced + 1);
    const maySend = requests.maySend(isNext ? 0 : inFlightMax);
    return ended || next > pagesMax || !mayFollow || !maySend ? undefined : next++;
  };
  for await (const { page, answer } of fetchConcurrently(inFlightMax, choosePage, fetchPage)) {
    arrived.set(page, answer);
    for (let one = arrived.get(counted + 1); one !== undefined; one = arrived.get(counted + 1)) {
      arrived.delete(++counted);
      last = countRows(counted, one);
      const { found, fresh } = last;
      if (counted > announced && fresh > 0 && fresh < found) partlyNew++;
      ended ||= found === 0 || (fresh === 0 && counted > announced) || partlyNew >= PARTLY_NEW_MAX;
      largest = Math.max(largest, found);
      isFull = found === largest;
    }
    if (answer.fetched) yield { ...answer.fetched, pagesToRequest: Math.max(0, announced - next + 1) };
  }
  return last.fresh === 0;
}

/** Reads from the last page that the pass before had filled back to the second. Yields pages as they arrive. */
export async function* sweepBackwards(
  last: number,
  { fetchPage, countRows, inFlightMax }: Sweeper,
): AsyncGenerator<FetchedPage> {
  let next = last;
  const choosePage = (): number | undefined => (next >= 2 ? next-- : undefined);
  for await (const { page, answer } of fetchConcurrently(inFlightMax, choosePage, fetchPage)) {
    countRows(page, answer);
    if (answer.fetched) yield answer.fetched;
  }
}

/**
 * Keeps up to `inFlightMax` pages in flight and yields each as it arrives. No request starts while the reader of this
 * generator is busy: that is the backpressure. After the first failure no further request starts. It throws, or ends
 * early, only after all requests have ended.
 */
async function* fetchConcurrently(
  inFlightMax: number,
  choosePage: () => number | undefined,
  fetchPage: Sweeper['fetchPage'],
): AsyncGenerator<{ page: number; answer: PageAnswer }> {
  const inFlight = new Map<number, Promise<{ page: number; answer: PageAnswer }>>();
  let hasFailed = false;
  const start = async (page: number) => {
    try {
      return { page, answer: await fetchPage(page) };
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  };
  try {
    for (;;) {
      while (!hasFailed && inFlight.size < inFlightMax) {
        const page = choosePage();
        if (page === undefined) break;
        inFlight.set(page, start(page));
      }
      if (inFlight.size === 0) return;
      const arrived = await Promise.race(inFlight.values());
      inFlight.delete(arrived.page);
      yield arrived;
    }
  } finally {
    await Promise.allSettled(inFlight.values());
  }
}
