import type { WallTime } from '../../domain/calendar.ts';
import { largest } from '../../domain/lists.ts';
import type { Semaphore } from '../../runtime/semaphore.ts';
import type { ListQuery, ProviderClient } from '../client.ts';
import { PAGE_ROWS } from './check-pass.ts';
import {
  type CollectedRows,
  collectRows,
  countRepeatedPage,
  createRowCollection,
  type StoredPage,
  toPageRow,
} from './collect-rows.ts';
import {
  createRequestBudget,
  type FetchedPage,
  type PageAnswer,
  type RowCount,
  sweepBackwards,
  sweepForwards,
} from './sweep-pages.ts';

const PAGES_MAX = 100_000;
const END_PAGES_MAX = 20;
const END_ROUNDS_MAX = 3;
/** All that readList needs of the client. */
export type ListClient = Pick<ProviderClient, 'listPage'>;

type PassOptions = {
  number: number;
  backwards: boolean;
  inFlightMax: number;
  /** Limits the requests in flight, together with other lists. */
  semaphore: Semaphore;
  /** Whether rows are being created in the range while it is read. */
  isGrowing: boolean;
  /** Pages of this pass that a killed process read. They are not requested again. */
  storedPages: Map<number, StoredPage>;
  /** How many pages the pass before had filled; 0 for the first. */
  previousPages: number;
};

/**
 * Reads every page of the list once, up to the first page without a row, then both ends again while rows are missing.
 * Yields each requested page as it arrives. The announced `total` and `last_page` do not decide how many requests are sent: beyond
 * the pages that brought a row, or that the pass before had filled, a pass sends SPARE_PAGES, or as many as brought a row, up to
 * `inFlightMax`. A killed pass can be
 * resumed: its checks (see check-pass) hold for any time between two of its pages.
 * @returns what the pass has seen, for check-pass.
 */
export async function* runPass(
  client: ListClient,
  query: ListQuery,
  options: PassOptions,
): AsyncGenerator<FetchedPage, CollectedRows> {
  const { seen, requests, countRows, requestPage } = openPass(client, query, options);
  const fetchPage = async (page: number): Promise<PageAnswer> => {
    const stored = options.storedPages.get(page);
    return stored ? { page: stored, fetched: undefined } : await requestPage(page);
  };
  const sizes: number[] = [];
  let filledTo = 0;
  let [head, tail]: (WallTime | undefined)[] = [];
  const countSwept = (number: number, { page }: PageAnswer): RowCount => {
    if (number <= seen.announcedPages) countRepeatedPage(seen, page);
    const count = countRows(page);
    sizes[number - 1] = count.found;
    if (number === 1) head = page?.rows[0]?.createdWall;
    if (count.fresh > 0 && number >= filledTo) [filledTo, tail] = [number, page?.rows.at(-1)?.createdWall];
    return count;
  };

  const first = await fetchPage(1);
  const before = countSwept(1, first);
  seen.firstTotal = seen.lastTotal;
  const announced = Math.min(PAGES_MAX, seen.announcedPages);
  if (first.fetched) yield { ...first.fetched, pagesToRequest: announced - 1 };
  const sweeper = { fetchPage, countRows: countSwept, requests, inFlightMax: options.inFlightMax };
  if (options.backwards) yield* sweepBackwards(options.previousPages, sweeper);
  const from = options.backwards ? Math.max(1, options.previousPages) + 1 : 2;
  seen.endReached = yield* sweepForwards({ from, before, announced, pagesMax: PAGES_MAX }, sweeper);
  seen.filledPages = filledTo;
  seen.pageSizes = Array.from({ length: Math.max(1, filledTo) }, (_, index) => sizes[index] ?? 0);
  seen.newAfterLastPage = !options.isGrowing && filledTo > announced;
  // the end with the newest rows first: once neither end brings a row, no request may be left for the other
  const ends: End[] = head && tail && head < tail ? ['tail', 'head'] : ['head', 'tail'];
  yield* readEnds(seen, ends, { countRows, requestPage, requests, roundsMax: options.isGrowing ? END_ROUNDS_MAX : 1 });
  return seen;
}

type End = 'head' | 'tail';
type Pass = ReturnType<typeof openPass>;

/** The state of a pass, and its requests within the budget and the semaphore. */
function openPass(
  client: ListClient,
  query: ListQuery,
  { number, previousPages, semaphore, storedPages }: PassOptions,
) {
  const seen = createRowCollection();
  const requests = createRequestBudget(previousPages);
  let newest: StoredPage | undefined;
  let place = Math.max(0, largest([...storedPages.values()].map((page) => page.place)));
  return {
    seen,
    requests,
    countRows: (page: StoredPage | undefined): RowCount => {
      if (!page) return { found: 0, fresh: 0 };
      // requests overlap, and pages are requested again: the newest total is of the request that was sent last
      if (!newest || isNewer(page, newest)) [newest, seen.lastTotal] = [page, page.total];
      seen.announcedPages = Math.max(seen.announcedPages, countPages(page));
      const count = collectRows(seen, page);
      if (count.fresh > 0) requests.recordFilledPage();
      return count;
    },
    requestPage: async (page: number): Promise<PageAnswer> => {
      requests.recordRequest();
      const sent = await semaphore(async () => ({ place: ++place, answer: await client.listPage(query, page) }));
      if (!sent.answer) return { page: undefined, fetched: undefined };
      seen.requestedPages++;
      const { total, lastPage, askedAt, rows } = sent.answer;
      const kept = { place: sent.place, total, lastPage, askedAt, rows: rows.map(toPageRow) };
      const pagesAnnounced = countPages(kept);
      // a resumed pass requests a page past the end again: there may be rows on it by then
      const pageToStore = rows.length > 0 && page <= pagesAnnounced ? kept : undefined;
      return { page: kept, fetched: { ...sent.answer, pass: number, pageToStore, pagesAnnounced, pagesToRequest: 0 } };
    },
  };
}

function countPages({ total, lastPage }: StoredPage): number {
  return Math.max(lastPage, Math.ceil(total / PAGE_ROWS));
}

function isNewer(one: StoredPage, than: StoredPage): boolean {
  const ms = one.askedAt.getTime() - than.askedAt.getTime();
  return ms > 0 || (ms === 0 && one.place > than.place);
}

/**
 * New rows, and rows that jump when they change, stand at the head or at the tail. While fewer ids were seen than
 * announced, reads each end until a page brings nothing new. Stops at the answer that brings the newest row together
 * with the total that counts it.
 */
async function* readEnds(
  seen: CollectedRows,
  ends: End[],
  { countRows, requestPage, requests, roundsMax }: Omit<Pass, 'seen'> & { roundsMax: number },
): AsyncGenerator<FetchedPage> {
  const isEnough = (): boolean => seen.seenRows.size >= seen.lastTotal || !requests.maySend();
  for (let round = 0; round < roundsMax; round++) {
    for (const end of ends) {
      const from = end === 'head' ? 1 : seen.pageSizes.length;
      let fresh = 1;
      for (let number = from; fresh > 0 && number < from + END_PAGES_MAX && !isEnough(); number++) {
        const { page, fetched } = await requestPage(number);
        ({ fresh } = countRows(page));
        // not stored: a resumed pass reads the ends again
        if (fetched) yield { ...fetched, pageToStore: undefined };
      }
    }
  }
}
