/**
 * Reading a range of the list completely, or saying that it could not be proven. Up to PASSES_MAX passes are made,
 * every second one backwards, so that rows which drift one way are met coming the other. One clean pass is proof (see
 * check-pass); so are two in a row with the same ids and contents, unless they hold fewer ids than were announced:
 * a server that ignores `page`, or whose order is not total, answers alike each time and leaves the same rows out. Where
 * a person accepted that the total is too high by a number, two in a row that are alike and short by just that are proof.
 * Every page is handed on as it comes: what was seen counts, whether or not the pass proves anything about what was not.
 */
import { createHash } from 'node:crypto';
import type { WallTime } from '../../domain/calendar.ts';
import { createSemaphore, type Semaphore } from '../../runtime/semaphore.ts';
import type { ListQuery } from '../client.ts';
import { canProveByRepeat, checkPass, computeSurplus } from './check-pass.ts';
import type { StoredPage } from './collect-rows.ts';
import { type FetchedPage, type ListClient, runPass } from './run-pass.ts';
import { createSeenRows, type SeenRows } from './seen-rows.ts';

export const PASSES_MAX = 5;
/** Where two passes met drift, pages are asked for one by one: only then does a row that moves show at an end again. */
const IN_FLIGHT_BY_PASS = [8, 8, 1, 1, 1] as const;
/** So many pages are under way at once, of all lists that are read in one room. */
export const PAGES_IN_FLIGHT = Math.max(...IN_FLIGHT_BY_PASS);

export type ListReading = {
  complete: boolean;
  /** How many more rows were announced than listed: as accepted, or alike in all passes that proved nothing; else 0. */
  surplus: number;
  /** The last total that was announced. */
  total: number;
  /** Why the last pass proves nothing; undefined when it does. */
  reason: string | undefined;
  passes: number;
  pages: number;
  /** Every id seen, by its newest pass. */
  seenRows: SeenRows;
  /** Ids that were shown in two ways within one pass: which of them holds, only a show can tell. */
  inconsistentIds: Set<string>;
  /** When the pass that proved it began; for an incomplete reading, the last one. */
  askedAt: Date;
};

type ListOptions = {
  now: () => Date;
  /** Rows created since this wall clock may add to the total while it is read; undefined where no day is running. */
  growsSince: (began: Date) => WallTime | undefined;
  onPage: (page: FetchedPage) => Promise<void>;
  /** The pages of a pass that a process which died had read already: they are not asked for again. */
  storedPages?: Map<number, Map<number, StoredPage>>;
  /** By how many rows a person accepted the total to be too high. */
  surplus?: number;
  /** Shared by lists that are read beside each other. */
  semaphore?: Semaphore;
  /** Called when the last pages of the first pass are about to be asked for, with how many the list has. */
  onLastPages?: (pages: number) => void;
};

export async function readList(client: ListClient, query: ListQuery, options: ListOptions): Promise<ListReading> {
  let ids = createSeenRows();
  const torn = new Set<string>();
  let pages = 0;
  let previous: string | undefined;
  const surpluses = new Set<number>();
  let pagesBefore = 0;
  let askedAt = options.now();
  const room = options.semaphore ?? createSemaphore(PAGES_IN_FLIGHT);
  for (let number = 1; number <= PASSES_MAX; number++) {
    const kept = options.storedPages?.get(number) ?? new Map<number, StoredPage>();
    // of a pass that is gone on with, when it began
    askedAt = kept.get(1)?.askedAt ?? options.now();
    const grows = options.growsSince(askedAt);
    const seen = await runPass(client, query, {
      number,
      backwards: number % 2 === 0,
      pagesInFlight: IN_FLIGHT_BY_PASS[number - 1] ?? 1,
      semaphore: room,
      onLastPages: (count) => {
        if (number === 1) options.onLastPages?.(count);
      },
      isGrowing: grows !== undefined,
      storedPages: kept,
      previousPages: pagesBefore,
      onPage: async (page) => {
        pages++;
        await options.onPage(page);
      },
    });
    // not copied: most readings are one pass, and a day may hold a million
    if (number === 1) ids = seen.seenRows;
    else for (const { id, digest, wall } of seen.seenRows.entries()) ids.set(id, digest, wall);
    for (const id of seen.inconsistentIds) torn.add(id);
    pagesBefore = seen.filledPages;
    const createdSince = grows === undefined ? 0 : countSince(seen.seenRows, grows);
    const pass = { ...seen, distinctIds: seen.seenRows.size, createdSince };
    const verdict = checkPass(pass);
    const surplus = computeSurplus(pass);
    surpluses.add(surplus);
    const isAccepted = surplus > 0 && surplus === options.surplus;
    const digest = isAccepted || canProveByRepeat(pass) ? digestPass(seen.seenRows) : undefined;
    const reading = { passes: number, pages, seenRows: ids, inconsistentIds: torn, askedAt, total: seen.lastTotal };
    if (verdict.clean) return { ...reading, complete: true, reason: undefined, surplus: 0 };
    const repeats = `${surplus} ${digest}`;
    if (digest !== undefined && repeats === previous) return { ...reading, complete: true, reason: undefined, surplus };
    previous = repeats;
    const steady = surpluses.size === 1 ? surplus : 0;
    if (number === PASSES_MAX) return { ...reading, complete: false, reason: verdict.reason, surplus: steady };
  }
  throw new Error('PASSES_MAX is below 1');
}

function countSince(marks: SeenRows, since: WallTime): number {
  let count = 0;
  for (const { wall } of marks.entries()) if (wall !== undefined && wall >= since) count++;
  return count;
}

function digestPass(marks: SeenRows): string {
  const hash = createHash('sha256');
  const ids = [...marks.entries()].map(({ id }) => id).sort();
  for (const id of ids) hash.update(`${id} ${marks.digestOf(id)}\n`);
  return hash.digest('base64');
}
