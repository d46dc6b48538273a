import type { Wall } from '../domain/calendar.ts';
import type { ListPage, ListQuery, ProviderClient } from './client.ts';
import type { Room } from './create-room.ts';
import { PAGE_ROWS, type Pass } from './judge-pass.ts';
import { createRowMarks, type RowMarks } from './row-marks.ts';

const PAGES_MAX = 100_000;
const END_PAGES_MAX = 20;
const END_ROUNDS_MAX = 3;
/** For each request that may be under way, so many pages are asked for or being applied. */
const HANDS_BY_PLACE = 2;
/** Enough of a digest to tell two payloads of one id apart. */
const MARK_BYTES = 12;

/** Stands for the digest of a row that can't be read. */
export const REFUSED = 'refused';

/** All that readList needs of the client. */
export type ListClient = Pick<ProviderClient, 'listPage'>;

/** What judging needs of a row. */
export type RowMark = { id: string | null; createdWall: Wall | undefined; digest: string };

/** A page of a pass, as a process that died left it. */
export type KeptPage = { place: number; total: number; lastPage: number; askedAt: Date; rows: RowMark[] };

export type PageRead = ListPage & {
  pass: number;
  /** To be kept until the window is concluded; undefined for a page that is asked for again by whoever goes on. */
  keep: KeptPage | undefined;
};

export type PassOptions = {
  number: number;
  backwards: boolean;
  inFlight: number;
  /** Holds what is under way, beside what else is asked for in it. */
  room: Room;
  /** Called once, when the last pages are about to be asked for, with how many the list has. */
  onNearEnd: (pages: number) => void;
  /** Whether rows are being created in the range while it is read. */
  grows: boolean;
  onPage: (page: PageRead) => Promise<void>;
  /** Pages of this pass that need not be asked for again. */
  kept: Map<number, KeptPage>;
};

export type Collected = Omit<Pass, 'distinctIds' | 'createdSince'> & {
  /** Every id seen, and what was shown of it last. */
  marks: RowMarks;
  /** Ids that were shown in two ways within the pass. */
  torn: Set<string>;
};

type Answer = KeptPage;
type FetchPage = (page: number) => Promise<{ found: number; fresh: number }>;

/**
 * Reads every page of the list once, then what lies past its end, then its ends again where rows still lack. A pass
 * that was broken off is gone on with: what judges it (see judge-pass) holds for any time between two of its pages.
 */
export async function makePass(client: ListClient, query: ListQuery, options: PassOptions): Promise<Collected> {
  const seen = begin();
  let asked = Math.max(0, ...[...options.kept.values()].map((page) => page.place));
  let newest: Answer | undefined;
  let lastPage = 1;
  const ask = async (page: number, isSwept: boolean): Promise<Answer | undefined> => {
    const { place, answer } = await options.room(async () => ({
      place: ++asked,
      answer: await client.listPage(query, page),
    }));
    if (!answer) return undefined;
    const { total, lastPage: announced, askedAt } = answer;
    const kept = { place, total, lastPage: announced, askedAt, rows: answer.rows.map(markRow) };
    await options.onPage({ ...answer, pass: options.number, keep: isSwept ? kept : undefined });
    return kept;
  };
  const take = (answer: Answer | undefined): { found: number; fresh: number } => {
    if (!answer) return { found: 0, fresh: 0 };
    // several are under way at once, and one may be asked for again: the newest total is of the request that left last
    if (!newest || isNewer(answer, newest)) [newest, seen.lastTotal] = [answer, answer.total];
    lastPage = Math.max(lastPage, answer.lastPage);
    return collect(seen, answer);
  };
  const fetchPage: FetchPage = async (page) => take(await ask(page, false));
  const sweepPage = async (page: number) => {
    const answer = options.kept.get(page) ?? (await ask(page, true));
    noteRepeat(seen, answer);
    return take(answer);
  };

  const first = await sweepPage(1);
  seen.firstTotal = seen.lastTotal;
  const last = Math.min(PAGES_MAX, Math.max(lastPage, Math.ceil(seen.firstTotal / PAGE_ROWS)));
  seen.pageSizes = new Array<number>(last).fill(PAGE_ROWS);
  seen.pageSizes[0] = first.found;
  const rest = Array.from({ length: last - 1 }, (_, index) => index + 2);
  if (options.backwards) rest.reverse();
  let pastEnd: Answer | undefined;
  // a page is asked for while another is applied; one by one means one after the other
  const hands = options.inFlight > 1 ? options.inFlight * HANDS_BY_PLACE : 1;
  await eachInFlight(
    [...rest, last + 1],
    hands,
    async (page) => {
      if (page > last) pastEnd = await ask(page, false);
      else seen.pageSizes[page - 1] = (await sweepPage(page)).found;
    },
    () => options.onNearEnd(last),
  );

  // judged only now: until all pages are in, the last one given again past the end would look new
  const found = await follow(fetchPage, last + 2, take(pastEnd));
  seen.newAfterLast = !options.grows && found.pages > 0;
  seen.endFound = found.ended;
  await readEnds(seen, fetchPage, last, options.grows ? END_ROUNDS_MAX : 1);
  return seen;
}

function isNewer(one: Answer, than: Answer): boolean {
  const ms = one.askedAt.getTime() - than.askedAt.getTime();
  return ms > 0 || (ms === 0 && one.place > than.place);
}

function begin(): Collected & { pages: Set<string>; pageRows: number } {
  return {
    firstTotal: 0,
    lastTotal: 0,
    totals: { min: Number.POSITIVE_INFINITY, max: 0 },
    pageSizes: [],
    marks: createRowMarks(),
    torn: new Set(),
    pages: new Set(),
    pageRows: 0,
    pagesRepeated: 0,
    newAfterLast: false,
    endFound: true,
    withoutId: 0,
  };
}

function markRow(row: ListPage['rows'][number]): RowMark {
  return row.ok
    ? {
        id: row.transaction.id,
        createdWall: row.transaction.createdWall,
        digest: row.digest.toString('base64', 0, MARK_BYTES),
      }
    : { id: row.id, createdWall: row.createdWall, digest: REFUSED };
}

/**
 * Two pages that begin, end and count alike: the server ignores `page`, or repeats one. A short last page that is given
 * again is no such thing: `last_page` may be too high.
 */
function noteRepeat(seen: ReturnType<typeof begin>, answer: Answer | undefined): void {
  if (!answer || answer.rows.length === 0) return;
  seen.pageRows = Math.max(seen.pageRows, answer.rows.length);
  const key = `${answer.rows[0]?.id} ${answer.rows.at(-1)?.id} ${answer.rows.length}`;
  if (seen.pages.has(key) && answer.rows.length === seen.pageRows) seen.pagesRepeated++;
  seen.pages.add(key);
}

/**
 * Goes on from a page until one brings nothing new: a total or a `last_page` that is too small is told by it. Pages
 * that are new only in part are drift, and could go on for as long as rows are made.
 * @param before what the page before brought; @param enough ends it sooner.
 */
async function follow(
  fetchPage: FetchPage,
  from: number,
  before: { found: number; fresh: number },
  enough: () => boolean = () => false,
) {
  let partlyNew = 0;
  let { found, fresh } = before;
  for (let page = from; page <= PAGES_MAX && partlyNew < END_PAGES_MAX; page++) {
    if (fresh === 0 || enough()) return { pages: page - from, ended: fresh === 0 };
    if (fresh < found) partlyNew++;
    ({ found, fresh } = await fetchPage(page));
  }
  return { pages: PAGES_MAX, ended: false };
}

/**
 * New rows, and those that jump when they change, stand at the head or at the tail. While ids lack to the total, each
 * end is followed, and no further than to the answer that brings the newest row and the total that counts it.
 */
async function readEnds(seen: Collected, fetchPage: FetchPage, last: number, roundsMax: number): Promise<void> {
  const enough = (): boolean => seen.marks.size >= seen.lastTotal;
  for (let round = 0; round < roundsMax; round++) {
    for (const end of ['head', 'tail']) {
      if (enough()) return;
      const tail = Math.max(last, Math.ceil(seen.lastTotal / PAGE_ROWS));
      const page = end === 'head' ? 1 : tail;
      await follow(fetchPage, page + 1, await fetchPage(page), enough);
    }
  }
}

function collect(seen: Collected, page: Answer): { found: number; fresh: number } {
  let fresh = 0;
  for (const { id, createdWall, digest } of page.rows) {
    if (id === null) {
      seen.withoutId++;
      continue;
    }
    const before = seen.marks.digestOf(id);
    if (before === undefined) fresh++;
    else if (before !== digest) seen.torn.add(id);
    seen.marks.set(id, digest, createdWall);
  }
  seen.totals = { min: Math.min(seen.totals.min, page.total), max: Math.max(seen.totals.max, page.total) };
  return { found: page.rows.length, fresh };
}

/**
 * Runs `work` on every page, a few at once. The first failure stops the rest, and is thrown once all are at rest.
 * @param onNearEnd called while a round of pages is still to be begun: what is asked for then is answered before the last.
 */
async function eachInFlight(
  pages: number[],
  inFlight: number,
  work: (page: number) => Promise<void>,
  onNearEnd: () => void,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let page = pages[next++]; page !== undefined; page = pages[next++]) {
      try {
        if (next === Math.max(1, pages.length - inFlight)) onNearEnd();
        await work(page);
      } catch (error) {
        next = pages.length;
        throw error;
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: Math.min(inFlight, pages.length) }, worker));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}
