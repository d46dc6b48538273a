/** Collects the rows of a pass's pages, as far as check-pass needs them. */
import { createHash } from 'node:crypto';
import type { WallTime } from '../../domain/calendar.ts';
import type { ListPage } from '../client.ts';
import type { Pass } from './check-pass.ts';
import { createSeenRows, type SeenRows } from './seen-rows.ts';

/** Enough of a digest to distinguish two payloads of one id. */
const DIGEST_BYTES = 12;

/** Stands for the digest of a row that can't be read. */
export const REFUSED_DIGEST = 'refused';

export type PageRow = { id: string | null; createdWall: WallTime | undefined; digest: string };

/** A page of a pass, as it is stored for a resumed pass. `place`: the order in which requests were sent. */
export type StoredPage = { place: number; total: number; lastPage: number; askedAt: Date; rows: PageRow[] };

export type CollectedRows = Omit<Pass, 'distinctIds' | 'createdSince'> & {
  /** Every id seen, with its last shown content. */
  seenRows: SeenRows;
  /** Ids that were shown in two versions within the pass. */
  inconsistentIds: Set<string>;
  /** The last page that brought rows. */
  filledPages: number;
  /** How many pages were requested and answered. */
  requestedPages: number;
  /** How many pages the list has, by any of its pages. */
  announcedPages: number;
};

type RowCollection = CollectedRows & {
  /** First id, last id and row count of each page. */
  pageKeys: Set<string>;
  largestPageRows: number;
  /** Digests of rows whose id could not be read. */
  unnamedDigests: Set<string>;
};

export function createRowCollection(): RowCollection {
  return {
    firstTotal: 0,
    lastTotal: 0,
    totals: { min: Number.POSITIVE_INFINITY, max: 0 },
    pageSizes: [],
    seenRows: createSeenRows(),
    inconsistentIds: new Set(),
    pageKeys: new Set(),
    largestPageRows: 0,
    repeatedPages: 0,
    newAfterLastPage: false,
    endReached: true,
    withoutId: 0,
    filledPages: 0,
    requestedPages: 0,
    announcedPages: 1,
    unnamedDigests: new Set(),
  };
}

/** Returns the part of a row that a pass stores. */
export function toPageRow(row: ListPage['rows'][number]): PageRow {
  if (row.ok) {
    const { id, createdWall } = row.transaction;
    return { id, createdWall, digest: row.digest.toString('base64', 0, DIGEST_BYTES) };
  }
  return { id: row.id, createdWall: row.createdWall, digest: row.id === null ? digestOf(row.raw) : REFUSED_DIGEST };
}

function digestOf(raw: string): string {
  return createHash('sha256').update(raw).digest().toString('base64', 0, DIGEST_BYTES);
}

/**
 * Counts a page that begins and ends like an earlier one and is as long: the server ignores `page`, or repeats a page.
 * A short last page that is shown again does not count: `last_page` may be too high.
 */
export function countRepeatedPage(seen: RowCollection, page: StoredPage | undefined): void {
  if (!page || page.rows.length === 0) return;
  seen.largestPageRows = Math.max(seen.largestPageRows, page.rows.length);
  const key = `${page.rows[0]?.id} ${page.rows.at(-1)?.id} ${page.rows.length}`;
  if (seen.pageKeys.has(key) && page.rows.length === seen.largestPageRows) seen.repeatedPages++;
  seen.pageKeys.add(key);
}

/** Adds the rows of a page to those that the pass has seen. @returns how many it held, and how many of them are new. */
export function collectRows(seen: RowCollection, page: StoredPage): { found: number; fresh: number } {
  let fresh = 0;
  for (const { id, createdWall, digest } of page.rows) {
    if (id === null) {
      // identified by its content alone
      if (!seen.unnamedDigests.has(digest)) fresh++;
      seen.unnamedDigests.add(digest);
      seen.withoutId = seen.unnamedDigests.size;
      continue;
    }
    const before = seen.seenRows.digestOf(id);
    if (before === undefined) fresh++;
    else if (before !== digest) seen.inconsistentIds.add(id);
    seen.seenRows.set(id, digest, createdWall);
  }
  seen.totals = { min: Math.min(seen.totals.min, page.total), max: Math.max(seen.totals.max, page.total) };
  return { found: page.rows.length, fresh };
}
