/**
 * Reads a range of the list completely, or reports that completeness could not be proven. Start reading here.
 *
 * A reading makes up to PASSES_MAX passes. Every second pass runs backwards, so that it meets rows that drift the other
 * way. One clean pass is proof (see check-pass). Two consecutive passes with the same ids and contents are proof too,
 * unless they hold fewer ids than announced: a server that ignores `page`, or whose order is not total, answers alike
 * each time and leaves out the same rows. Where a person accepted that the total is too high by a number, two equal
 * passes that lack exactly that number are proof.
 *
 * readList is an async generator. It yields every page as it arrives, also pages of passes that prove nothing: the rows
 * on them are real. It returns the ListReading at the end.
 */

import { createHash } from 'node:crypto';
import type { WallTime } from '../../domain/calendar.ts';
import type { Message } from '../../domain/errors.ts';
import { largest } from '../../domain/lists.ts';
import { createSemaphore, type Semaphore } from '../../runtime/semaphore.ts';
import type { ListQuery } from '../client.ts';
import { canProveByRepeat, checkPass, computeSurplus } from './check-pass.ts';
import type { StoredPage } from './collect-rows.ts';
import { type ListClient, runPass } from './run-pass.ts';
import { createSeenRows, type SeenRows } from './seen-rows.ts';
import type { FetchedPage } from './sweep-pages.ts';

export const PASSES_MAX = 5;
/** After two passes with drift, pages are requested one by one: only then does a row that moves show again at an end. */
const IN_FLIGHT_BY_PASS = [8, 8, 1, 1, 1] as const;
/** Limit of requests in flight, over all lists that share a semaphore. */
export const PAGES_IN_FLIGHT = largest(IN_FLIGHT_BY_PASS);

export type ListReading = {
  complete: boolean;
  /** How many more rows were announced than listed: as accepted, or equal in all passes that proved nothing; else 0. */
  surplus: number;
  /** The last total that was announced. */
  total: number;
  /** Why the last pass proves nothing; undefined when it does. */
  reason: Message | undefined;
  passes: number;
  /** How many pages were requested, without stored ones. */
  pages: number;
  /** Every id seen, by its newest pass. */
  seenRows: SeenRows;
  /** Ids that one pass showed in two versions. Only a show decides which of them holds. */
  inconsistentIds: Set<string>;
  /** When the pass that proved the list began; for an incomplete reading, the last pass. */
  askedAt: Date;
};

type ListOptions = {
  now: () => Date;
  /** Rows created since this wall clock may add to the total while it is read. Undefined where no day is running. */
  growsSince: (began: Date) => WallTime | undefined;
  /** By pass and page number: pages that a killed process read. They are not requested again. */
  storedPages?: Map<number, Map<number, StoredPage>>;
  /** By how many rows a person accepted the total to be too high. */
  surplus?: number;
  /** Shared by lists that are read concurrently. */
  semaphore?: Semaphore;
};

export async function* readList(
  client: ListClient,
  query: ListQuery,
  options: ListOptions,
): AsyncGenerator<FetchedPage, ListReading> {
  let ids = createSeenRows();
  const inconsistentIds = new Set<string>();
  let pages = 0;
  let previousPass: string | undefined;
  const surpluses = new Set<number>();
  let previousPages = 0;
  const semaphore = options.semaphore ?? createSemaphore(PAGES_IN_FLIGHT);
  for (let number = 1; number <= PASSES_MAX; number++) {
    const storedPages = options.storedPages?.get(number) ?? new Map<number, StoredPage>();
    // a resumed pass keeps the time at which it began
    const askedAt = storedPages.get(1)?.askedAt ?? options.now();
    const grows = options.growsSince(askedAt);
    const seen = yield* runPass(client, query, {
      number,
      backwards: number % 2 === 0,
      inFlightMax: IN_FLIGHT_BY_PASS[number - 1] ?? 1,
      semaphore,
      isGrowing: grows !== undefined,
      storedPages,
      previousPages,
    });
    pages += seen.requestedPages;
    // the first pass is not copied: most readings are one pass, and a day may hold a million rows
    if (number === 1) ids = seen.seenRows;
    else for (const { id, digest, wall } of seen.seenRows.entries()) ids.set(id, digest, wall);
    for (const id of seen.inconsistentIds) inconsistentIds.add(id);
    previousPages = seen.filledPages;
    const createdSince = grows === undefined ? 0 : countSince(seen.seenRows, grows);
    const pass = { ...seen, distinctIds: seen.seenRows.size, createdSince };
    const verdict = checkPass(pass);
    const surplus = computeSurplus(pass);
    surpluses.add(surplus);
    const reading = { passes: number, pages, seenRows: ids, inconsistentIds, askedAt, total: seen.lastTotal };
    if (verdict.clean) return { ...reading, complete: true, reason: undefined, surplus: 0 };
    const isAccepted = surplus > 0 && surplus === options.surplus;
    const digest = isAccepted || canProveByRepeat(pass) ? digestPass(seen.seenRows) : undefined;
    const thisPass = `${surplus} ${digest}`;
    if (digest !== undefined && thisPass === previousPass)
      return { ...reading, complete: true, reason: undefined, surplus };
    previousPass = thisPass;
    const steady = surpluses.size === 1 ? surplus : 0;
    if (number === PASSES_MAX) return { ...reading, complete: false, reason: verdict.reason, surplus: steady };
  }
  throw new Error('PASSES_MAX is below 1');
}

function countSince(rows: SeenRows, since: WallTime): number {
  let count = 0;
  for (const { wall } of rows.entries()) if (wall !== undefined && wall >= since) count++;
  return count;
}

function digestPass(rows: SeenRows): string {
  const hash = createHash('sha256');
  const ids = [...rows.entries()].map(({ id }) => id).sort();
  for (const id of ids) hash.update(`${id} ${rows.digestOf(id)}\n`);
  return hash.digest('base64');
}
