import type { Wall } from '../domain/calendar.ts';
import type { ListPage, ListQuery, ProviderClient } from './client.ts';
import { PAGE_ROWS, type Pass } from './judge-pass.ts';

const PAGES_MAX = 100_000;
const END_PAGES_MAX = 20;
const END_ROUNDS_MAX = 3;

/** All that readList needs of the client. */
export type ListClient = Pick<ProviderClient, 'listPage'>;

export type PageRead = ListPage & { pass: number; askedAt: Date };

export type PassOptions = {
  number: number;
  backwards: boolean;
  inFlight: number;
  /** Whether rows are being created in the range while it is read. */
  grows: boolean;
  now: () => Date;
  onPage: (page: PageRead) => Promise<void>;
};

export type Collected = Omit<Pass, 'distinctIds' | 'createdSince'> & {
  /** Every id seen, with the wall clock of its creation; undefined where that could not be read. */
  ids: Map<string, Wall | undefined>;
  contents: Map<string, string>;
};

type FetchPage = (page: number) => Promise<{ found: number; fresh: number }>;

/** Reads every page of the list once, then what lies past its end, then its ends again where rows still lack. */
export async function makePass(client: ListClient, query: ListQuery, options: PassOptions): Promise<Collected> {
  const seen: Collected = {
    firstTotal: 0,
    lastTotal: 0,
    totals: { min: Number.POSITIVE_INFINITY, max: 0 },
    pageSizes: [],
    ids: new Map(),
    contents: new Map(),
    newAfterLast: false,
    endFound: true,
    withoutId: 0,
  };
  let lastAsked = 0;
  let asked = 0;
  let lastPage = 1;
  const fetchPage: FetchPage = async (page) => {
    const order = ++asked;
    const askedAt = options.now();
    const answer = await client.listPage(query, page);
    if (!answer) return { found: 0, fresh: 0 };
    await options.onPage({ ...answer, pass: options.number, askedAt });
    // several are under way at once: the newest total is that of the page asked for last
    if (order > lastAsked) [lastAsked, seen.lastTotal] = [order, answer.total];
    lastPage = Math.max(lastPage, answer.lastPage);
    return collect(seen, answer);
  };

  const first = await fetchPage(1);
  seen.firstTotal = seen.lastTotal;
  const last = Math.min(PAGES_MAX, Math.max(lastPage, Math.ceil(seen.firstTotal / PAGE_ROWS)));
  seen.pageSizes = new Array<number>(last).fill(PAGE_ROWS);
  seen.pageSizes[0] = first.found;
  const rest = Array.from({ length: last - 1 }, (_, index) => index + 2);
  if (options.backwards) rest.reverse();
  await eachInFlight(rest, options.inFlight, async (page) => {
    seen.pageSizes[page - 1] = (await fetchPage(page)).found;
  });

  const found = await follow(fetchPage, last + 1, () => false);
  seen.newAfterLast = !options.grows && found.pages > 0;
  seen.endFound = found.ended;
  await readEnds(seen, fetchPage, last, options.grows ? END_ROUNDS_MAX : 1);
  return seen;
}

/**
 * Goes on from a page until one brings nothing new: a total or a `last_page` that is too small is told by it. Pages
 * that are new only in part are drift, and could go on for as long as rows are made.
 * @param enough ends it sooner.
 */
async function follow(fetchPage: FetchPage, from: number, enough: () => boolean) {
  let partlyNew = 0;
  for (let page = from; page < PAGES_MAX && partlyNew < END_PAGES_MAX; page++) {
    const { found, fresh } = await fetchPage(page);
    if (fresh === 0 || enough()) return { pages: page - from, ended: fresh === 0 };
    if (fresh < found) partlyNew++;
  }
  return { pages: PAGES_MAX, ended: false };
}

/**
 * New rows, and those that jump when they change, stand at the head or at the tail. While ids lack to the total, each
 * end is followed, and no further than to the answer that brings the newest row and the total that counts it.
 */
async function readEnds(seen: Collected, fetchPage: FetchPage, last: number, roundsMax: number): Promise<void> {
  const enough = (): boolean => seen.ids.size >= seen.lastTotal;
  for (let round = 0; round < roundsMax; round++) {
    for (const end of ['head', 'tail']) {
      if (enough()) return;
      const tail = Math.max(last, Math.ceil(seen.lastTotal / PAGE_ROWS));
      await follow(fetchPage, end === 'head' ? 1 : tail, enough);
    }
  }
}

function collect(seen: Collected, page: ListPage): { found: number; fresh: number } {
  let fresh = 0;
  for (const row of page.rows) {
    const id = row.ok ? row.transaction.id : row.id;
    if (id === null) {
      seen.withoutId++;
      continue;
    }
    if (!seen.ids.has(id)) fresh++;
    seen.ids.set(id, row.ok ? row.transaction.createdWall : (row.createdWall ?? seen.ids.get(id)));
    seen.contents.set(id, row.ok ? row.digest.toString('base64') : 'refused');
  }
  seen.totals = { min: Math.min(seen.totals.min, page.total), max: Math.max(seen.totals.max, page.total) };
  return { found: page.rows.length, fresh };
}

/** Runs `work` on every page, a few at once. The first failure stops the rest, and is thrown once all are at rest. */
async function eachInFlight(pages: number[], inFlight: number, work: (page: number) => Promise<void>): Promise<void> {
  const queue = [...pages];
  const worker = async (): Promise<void> => {
    for (let page = queue.shift(); page !== undefined; page = queue.shift()) {
      try {
        await work(page);
      } catch (error) {
        queue.length = 0;
        throw error;
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: Math.min(inFlight, pages.length) }, worker));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}
