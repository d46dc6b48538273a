/** What a pass keeps of the rows of its pages, to be judged by (see check-pass). */
import { createHash } from 'node:crypto';
import type { WallTime } from '../../domain/calendar.ts';
import type { ListPage } from '../client.ts';
import type { Pass } from './check-pass.ts';
import { createSeenRows, type SeenRows } from './seen-rows.ts';

/** Enough of a digest to tell two payloads of one id apart. */
const MARK_BYTES = 12;

/** Stands for the digest of a row that can't be read. */
export const REFUSED_DIGEST = 'refused';

/** What judging needs of a row. */
export type PageRow = { id: string | null; createdWall: WallTime | undefined; digest: string };

/** A page of a pass, as a process that died left it. */
export type StoredPage = { place: number; total: number; lastPage: number; askedAt: Date; rows: PageRow[] };

export type CollectedRows = Omit<Pass, 'distinctIds' | 'createdSince'> & {
  /** Every id seen, and what was shown of it last. */
  seenRows: SeenRows;
  /** Ids that were shown in two ways within the pass. */
  inconsistentIds: Set<string>;
  /** Up to which page rows were met. */
  filledPages: number;
};

export type RowCollection = CollectedRows & {
  pages: Set<string>;
  pageRows: number;
  /** Digests of rows whose id could not be read. */
  unnamed: Set<string>;
};

export function createRowCollection(): RowCollection {
  return {
    firstTotal: 0,
    lastTotal: 0,
    totals: { min: Number.POSITIVE_INFINITY, max: 0 },
    pageSizes: [],
    seenRows: createSeenRows(),
    inconsistentIds: new Set(),
    pages: new Set(),
    pageRows: 0,
    repeatedPages: 0,
    newAfterLastPage: false,
    endReached: true,
    withoutId: 0,
    filledPages: 0,
    unnamed: new Set(),
  };
}

function digestOf(raw: string): string {
  return createHash('sha256').update(raw).digest().toString('base64', 0, MARK_BYTES);
}

/** What is kept of a row of a page. */
export function toPageRow(row: ListPage['rows'][number]): PageRow {
  return row.ok
    ? {
        id: row.transaction.id,
        createdWall: row.transaction.createdWall,
        digest: row.digest.toString('base64', 0, MARK_BYTES),
      }
    : { id: row.id, createdWall: row.createdWall, digest: row.id === null ? digestOf(row.raw) : REFUSED_DIGEST };
}

/**
 * Two pages that begin, end and count alike: the server ignores `page`, or repeats one. A short last page that is given
 * again is no such thing: `last_page` may be too high.
 */
export function countRepeatedPage(seen: RowCollection, answer: StoredPage | undefined): void {
  if (!answer || answer.rows.length === 0) return;
  seen.pageRows = Math.max(seen.pageRows, answer.rows.length);
  const key = `${answer.rows[0]?.id} ${answer.rows.at(-1)?.id} ${answer.rows.length}`;
  if (seen.pages.has(key) && answer.rows.length === seen.pageRows) seen.repeatedPages++;
  seen.pages.add(key);
}

/** Adds the rows of a page to what a pass has seen. @returns how many it held, and how many of them are new. */
export function collectRows(seen: RowCollection, page: StoredPage): { found: number; fresh: number } {
  let fresh = 0;
  for (const { id, createdWall, digest } of page.rows) {
    if (id === null) {
      // it is told apart by its content alone
      if (!seen.unnamed.has(digest)) fresh++;
      seen.unnamed.add(digest);
      seen.withoutId = seen.unnamed.size;
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
