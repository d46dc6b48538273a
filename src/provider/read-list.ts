/**
 * Reading a range of the list completely, or saying that it could not be proven. Up to PASSES_MAX passes are made,
 * every second one backwards, so that rows which drift one way are met coming the other. One clean pass is proof (see
 * judge-pass); so are two in a row with the same ids and contents. Every page is handed on as it comes: what was seen
 * counts, whether or not the pass proves anything about what was not.
 */
import { createHash } from 'node:crypto';
import type { Wall } from '../domain/calendar.ts';
import type { ListPage, ListQuery, ProviderClient } from './client.ts';
import { judgePass, PAGE_ROWS } from './judge-pass.ts';

export const PASSES_MAX = 5;
const PAGES_IN_FLIGHT = 4;
const PAGES_MAX = 100_000;
const END_PAGES_MAX = 20;

export type PageRead = ListPage & { pass: number; askedAt: Date };

export type ListReading = {
  complete: boolean;
  /** Why the last pass proves nothing; undefined when it does. */
  why: string | undefined;
  passes: number;
  pages: number;
  /** Every id seen, with the wall clock of its creation; undefined where the row could not be read. */
  ids: Map<string, Wall | undefined>;
  /** When the pass that proved it began; for an incomplete reading, the last one. */
  askedAt: Date;
};

export async function readList(
  client: ProviderClient,
  query: ListQuery,
  options: {
    now: () => Date;
    /** Rows created since this wall clock may add to the total while it is read; undefined where no day is running. */
    growsSince: (began: Date) => Wall | undefined;
    onPage: (page: PageRead) => Promise<void>;
  },
): Promise<ListReading> {
  const ids = new Map<string, Wall | undefined>();
  let pages = 0;
  let previous: string | undefined;
  let why: string | undefined;
  let askedAt = options.now();
  for (let number = 1; number <= PASSES_MAX; number++) {
    askedAt = options.now();
    const grows = options.growsSince(askedAt);
    const pass = await makePass(client, query, {
      number,
      backwards: number % 2 === 0,
      grows: grows !== undefined,
      now: options.now,
      onPage: async (page) => {
        pages++;
        await options.onPage(page);
      },
    });
    for (const [id, created] of pass.ids) ids.set(id, created);
    const verdict = judgePass({
      ...pass,
      distinctIds: pass.ids.size,
      createdSince: grows === undefined ? 0 : countSince(pass.ids, grows),
    });
    const digest = digestPass(pass.contents);
    if (verdict.clean || (digest === previous && pass.withoutId === 0))
      return { complete: true, why: undefined, passes: number, pages, ids, askedAt };
    why = verdict.why;
    previous = digest;
  }
  return { complete: false, why, passes: PASSES_MAX, pages, ids, askedAt };
}

type PassOptions = {
  number: number;
  backwards: boolean;
  grows: boolean;
  now: () => Date;
  onPage: (page: PageRead) => Promise<void>;
};

type Collected = {
  firstTotal: number;
  lastTotal: number;
  pageSizes: number[];
  ids: Map<string, Wall | undefined>;
  contents: Map<string, string>;
  newAfterLast: boolean;
  withoutId: number;
};

async function makePass(client: ProviderClient, query: ListQuery, options: PassOptions): Promise<Collected> {
  const seen: Collected = {
    firstTotal: 0,
    lastTotal: 0,
    pageSizes: [],
    ids: new Map(),
    contents: new Map(),
    newAfterLast: false,
    withoutId: 0,
  };
  const fetchPage = async (page: number): Promise<{ found: number; fresh: number } | undefined> => {
    const askedAt = options.now();
    const answer = await client.listPage(query, page);
    if (!answer) return undefined;
    await options.onPage({ ...answer, pass: options.number, askedAt });
    return collect(seen, answer);
  };

  const first = await client.listPage(query, 1);
  if (!first) return seen;
  await options.onPage({ ...first, pass: options.number, askedAt: options.now() });
  collect(seen, first);
  seen.firstTotal = first.total;
  const last = Math.min(PAGES_MAX, Math.max(1, first.lastPage, Math.ceil(first.total / PAGE_ROWS)));
  seen.pageSizes = new Array<number>(last).fill(PAGE_ROWS);
  seen.pageSizes[0] = first.rows.length;

  const rest = Array.from({ length: last - 1 }, (_, index) => index + 2);
  if (options.backwards) rest.reverse();
  await eachInFlight(rest, PAGES_IN_FLIGHT, async (page) => {
    seen.pageSizes[page - 1] = (await fetchPage(page))?.found ?? 0;
  });

  // the last look: past the end nothing may be new, and where rows are being created both ends are read again
  const beyond = await fetchPage(last + 1);
  seen.newAfterLast = !options.grows && (beyond?.fresh ?? 0) > 0;
  if (options.grows) await readGrowth(fetchPage, last);
  return seen;
}

/** New rows stand at the tail or at the head: each end is followed until a page brings nothing new. */
async function readGrowth(fetchPage: (page: number) => Promise<{ fresh: number } | undefined>, last: number) {
  for (let page = last; page < last + END_PAGES_MAX; page++) {
    if (((await fetchPage(page))?.fresh ?? 0) === 0) break;
  }
  for (let page = 1; page <= END_PAGES_MAX; page++) {
    if (((await fetchPage(page))?.fresh ?? 0) === 0) break;
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
    seen.ids.set(id, row.ok ? row.transaction.createdWall : seen.ids.get(id));
    seen.contents.set(id, row.ok ? row.digest.toString('base64') : 'refused');
  }
  seen.lastTotal = page.total;
  return { found: page.rows.length, fresh };
}

/** Runs `work` on every page, a few at once; the first failure stops the rest. */
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
  await Promise.all(Array.from({ length: Math.min(inFlight, pages.length) }, worker));
}

function countSince(ids: Map<string, Wall | undefined>, since: Wall): number {
  return [...ids.values()].filter((created) => created !== undefined && created >= since).length;
}

function digestPass(contents: Map<string, string>): string {
  const hash = createHash('sha256');
  for (const [id, digest] of [...contents].sort(([a], [b]) => (a < b ? -1 : 1))) hash.update(`${id} ${digest}\n`);
  return hash.digest('base64');
}
