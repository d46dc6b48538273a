import type { WallTime } from '../../domain/calendar.ts';
import type { Semaphore } from '../../runtime/semaphore.ts';
import type { ListPage, ListQuery, ProviderClient } from '../client.ts';
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
  type RequestBudget,
  type SweepPage,
  sweepBackwards,
  sweepForwards,
} from './sweep-pages.ts';

const PAGES_MAX = 100_000;
const END_PAGES_MAX = 20;
const END_ROUNDS_MAX = 3;
/** For each request that may be under way, so many pages are asked for or being applied. */
const HANDS_BY_PLACE = 2;
/** All that readList needs of the client. */
export type ListClient = Pick<ProviderClient, 'listPage'>;

export type FetchedPage = ListPage & {
  pass: number;
  /** To be kept until the window is concluded; undefined for a page that is asked for again by whoever goes on. */
  pageToStore: StoredPage | undefined;
};

export type PassOptions = {
  number: number;
  backwards: boolean;
  pagesInFlight: number;
  /** Holds what is under way, beside what else is asked for in it. */
  semaphore: Semaphore;
  /** Called once, when the last pages are about to be asked for, with how many the list has. */
  onLastPages: (pages: number) => void;
  /** Whether rows are being created in the range while it is read. */
  isGrowing: boolean;
  onPage: (page: FetchedPage) => Promise<void>;
  /** Pages of this pass that need not be asked for again. */
  storedPages: Map<number, StoredPage>;
  /** How many pages the pass before had filled; 0 for the first. */
  previousPages: number;
};

type Answer = StoredPage;
type Brought = { found: number; fresh: number };
type End = 'head' | 'tail';
type FetchPage = (page: number) => Promise<Brought>;

/**
 * Reads every page of the list once, to the first that brings no row, then its ends again where rows still lack. What
 * `total` and `last_page` announce buys no request: at most SPARE_PAGES more are sent than pages brought a row, or than
 * the pass before had filled. A pass that was broken off is gone on with: what judges it (see check-pass) holds for any
 * time between two of its pages.
 */
export async function runPass(client: ListClient, query: ListQuery, options: PassOptions): Promise<CollectedRows> {
  const seen = createRowCollection();
  let newest: Answer | undefined;
  let announced = 1;
  const { request, hand, requests } = openRequests(client, query, options);
  const take = (answer: Answer | undefined): Brought => {
    if (!answer) return { found: 0, fresh: 0 };
    // several are under way at once, and one may be asked for again: the newest total is of the request that left last
    if (!newest || isNewer(answer, newest)) [newest, seen.lastTotal] = [answer, answer.total];
    announced = Math.max(announced, answer.lastPage, Math.ceil(answer.total / PAGE_ROWS));
    const brought = collectRows(seen, answer);
    if (brought.fresh > 0) requests.recordFilledPage();
    return brought;
  };
  const fetchPage: FetchPage = async (page) => {
    const asked = await request(page);
    const brought = take(asked?.kept);
    await hand(asked, false);
    return brought;
  };
  const sweep: SweepPage<Answer> = async (page, arrive) => {
    const kept = options.storedPages.get(page);
    if (kept) return arrive(kept);
    const asked = await request(page);
    arrive(asked?.kept);
    // a page past the end is asked for again by whoever goes on: rows may stand on it by then
    await hand(asked, asked !== undefined && asked.kept.rows.length > 0 && page <= lastOf(asked.kept));
  };
  const sizes: number[] = [];
  let filledTo = 0;
  let [head, tail]: (WallTime | undefined)[] = [];
  const takeSwept = (page: number, answer: Answer | undefined): Brought => {
    if (page <= announced) countRepeatedPage(seen, answer);
    const brought = take(answer);
    sizes[page - 1] = brought.found;
    if (page === 1) head = answer?.rows[0]?.createdWall;
    if (brought.fresh > 0 && page >= filledTo) [filledTo, tail] = [page, answer?.rows.at(-1)?.createdWall];
    return brought;
  };

  let before: Brought = { found: 0, fresh: 0 };
  await sweep(1, (answer) => {
    before = takeSwept(1, answer);
  });
  seen.firstTotal = seen.lastTotal;
  const range = { before, announced: Math.min(PAGES_MAX, announced), pagesMax: PAGES_MAX };
  // a page is asked for while another is applied; one by one means one after the other
  const hands = options.pagesInFlight > 1 ? options.pagesInFlight * HANDS_BY_PLACE : 1;
  const sweeper = { sweep, take: takeSwept, requests, hands, onNearEnd: options.onLastPages };
  const from = options.backwards ? Math.max(1, options.previousPages) + 1 : 2;
  if (options.backwards) await sweepBackwards(options.previousPages, sweeper);
  seen.endReached = await sweepForwards({ ...range, from }, sweeper);
  seen.filledPages = filledTo;
  seen.pageSizes = Array.from({ length: Math.max(1, filledTo) }, (_, index) => sizes[index] ?? 0);
  seen.newAfterLastPage = !options.isGrowing && filledTo > range.announced;
  // where the newest rows stand first: once neither end brings one, there may be no request left for the other
  const ends: End[] = head && tail && head < tail ? ['tail', 'head'] : ['head', 'tail'];
  await readEnds(seen, ends, { fetchPage, requests, roundsMax: options.isGrowing ? END_ROUNDS_MAX : 1 });
  return seen;
}

type Asked = { answer: ListPage; kept: Answer };

/** Asking for pages, and handing them on to be applied. */
function openRequests(client: ListClient, query: ListQuery, options: PassOptions) {
  const requests = createRequestBudget(options.previousPages);
  let place = Math.max(0, ...[...options.storedPages.values()].map((page) => page.place));
  return {
    requests,
    request: async (page: number): Promise<Asked | undefined> => {
      requests.recordRequest();
      const asked = await options.semaphore(async () => ({
        place: ++place,
        answer: await client.listPage(query, page),
      }));
      if (!asked.answer) return undefined;
      const { total, lastPage, askedAt, rows } = asked.answer;
      return {
        answer: asked.answer,
        kept: { place: asked.place, total, lastPage, askedAt, rows: rows.map(toPageRow) },
      };
    },
    hand: async (asked: Asked | undefined, keep: boolean): Promise<void> => {
      if (asked)
        await options.onPage({ ...asked.answer, pass: options.number, pageToStore: keep ? asked.kept : undefined });
    },
  };
}

function lastOf({ total, lastPage }: Answer): number {
  return Math.max(lastPage, Math.ceil(total / PAGE_ROWS));
}

function isNewer(one: Answer, than: Answer): boolean {
  const ms = one.askedAt.getTime() - than.askedAt.getTime();
  return ms > 0 || (ms === 0 && one.place > than.place);
}

/**
 * New rows, and those that jump when they change, stand at the head or at the tail. While ids lack to the total, each
 * end is followed until a page brings nothing new, and no further than to the answer that brings the newest row and the
 * total that counts it.
 */
async function readEnds(
  seen: CollectedRows,
  ends: End[],
  { fetchPage, requests, roundsMax }: { fetchPage: FetchPage; requests: RequestBudget; roundsMax: number },
): Promise<void> {
  const enough = (): boolean => seen.seenRows.size >= seen.lastTotal || !requests.maySend();
  for (let round = 0; round < roundsMax; round++) {
    for (const end of ends) {
      const from = end === 'head' ? 1 : seen.pageSizes.length;
      let fresh = 1;
      for (let page = from; fresh > 0 && page < from + END_PAGES_MAX && !enough(); page++) {
        ({ fresh } = await fetchPage(page));
      }
    }
  }
}
