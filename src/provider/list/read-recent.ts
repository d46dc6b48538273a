/**
 * Reads what is new in a list that was read whole before, where the list shows the newest rows first.
 *
 * A head is what a complete reading leaves behind: how many rows the list held, and the newest HEAD_ROWS of them in order.
 * A recent reading requests pages from the first one on, until a page's worth of rows are known, in their places and next
 * to each other. The order only says where to stop. The count proves: one answer must announce as many rows as the head
 * held and the reading added, and show the same newest rows.
 *
 * Any doubt ends it without a conclusion: a page that is missing or not full, a total that falls, rows that are not in
 * order of creation, a known row out of its place, a row that had ended and changed other than by a refund, a count that
 * differs. Rows below the overlap are not seen. Two changes there that cancel out, a row that vanishes and one that
 * appears, leave the count alone: only whole readings find them. So a recent reading says nothing about absence.
 */
import type { WallTime } from '../../domain/calendar.ts';
import { isFinal, isIllegalTransition, type Status } from '../../domain/statuses.ts';
import type { ListPage, ListQuery } from '../client.ts';
import { PAGE_ROWS } from './check-pass.ts';
import { toPageRow } from './collect-rows.ts';
import type { ListClient } from './run-pass.ts';
import type { SeenRows } from './seen-rows.ts';

/** Rows of a head. New rows may be listed some seconds late, between known ones: the overlap begins below them. */
export const HEAD_ROWS = 500;
/** Known rows that must follow each other, before the reading may stop: those of one page. */
const OVERLAP_ROWS = PAGE_ROWS;
/** Single pages that are requested until one announces as many rows as are known: on a busy day rows come in between. */
const CONFIRMATIONS_MAX = 2;
/** Beyond this many pages of new rows, a whole reading costs little more. */
const PAGES_MAX = 1_000;

/** `status`: undefined where the row could not be read. */
export type HeadRow = { id: string; createdWall: WallTime; digest: string; status?: Status | undefined };
/** `rows`: the newest ones, newest first. */
export type ListHead = { total: number; rows: HeadRow[] };

/** `head`: as it is now, with `fresh` more rows; `askedAt`: when the reading began. `doubt`: why it concludes nothing. */
export type RecentReading = { head: ListHead; fresh: number; askedAt: Date } | { doubt: string };

type Options = {
  /** Whether a row created at this time may be in the list. */
  belongs: (wall: WallTime) => boolean;
};

class ListDoubt extends Error {}

/** Yields every page as it arrives: its rows are real, also where the reading ends in doubt. */
export async function* readRecent(
  client: ListClient,
  query: ListQuery,
  head: ListHead,
  { belongs }: Options,
): AsyncGenerator<ListPage, RecentReading> {
  try {
    return yield* readToHead(client, query, head, belongs);
  } catch (error) {
    if (error instanceof ListDoubt) return { doubt: error.message };
    throw error;
  }
}

/**
 * Learns the head of a list that was just read whole. The first pages must show the newest of its rows in order, and the
 * count must agree. @param rows the rows of the complete reading.
 */
export async function* learnHead(
  client: ListClient,
  query: ListQuery,
  rows: SeenRows,
  { belongs }: Options,
): AsyncGenerator<ListPage, RecentReading> {
  try {
    let held = 0;
    const walk = yield* walkPages(client, query, { belongs, totalMin: rows.size }, () => ++held >= HEAD_ROWS);
    const newest = walk.rows.slice(0, HEAD_ROWS);
    const ids = new Set(newest.map(({ id }) => id));
    const oldest = newest.at(-1)?.createdWall ?? '';
    for (const { id, wall } of rows.entries()) {
      if (wall === undefined || !belongs(wall)) throw new ListDoubt('the list holds rows of other days');
      if (wall > oldest && !ids.has(id)) throw new ListDoubt('the first pages do not show the newest rows');
    }
    const fresh = newest.filter(({ id }) => !rows.has(id)).length;
    return yield* readToHead(client, query, { total: rows.size + fresh, rows: newest }, belongs);
  } catch (error) {
    if (error instanceof ListDoubt) return { doubt: error.message };
    throw error;
  }
}

async function* readToHead(
  client: ListClient,
  query: ListQuery,
  head: ListHead,
  belongs: Options['belongs'],
): AsyncGenerator<ListPage, RecentReading> {
  let [now, fresh] = [head, 0];
  let askedAt: Date | undefined;
  let counted = 0;
  for (let round = 0; round <= CONFIRMATIONS_MAX; round++) {
    const known = compareWithHead(now);
    const overlap = round === 0 ? OVERLAP_ROWS : 1;
    const walk = yield* walkPages(
      client,
      query,
      { belongs, totalMin: Math.max(now.total, counted) },
      (row) => known.add(row) >= overlap,
    );
    askedAt ??= walk.askedAt;
    fresh += known.fresh();
    now = { total: now.total + known.fresh(), rows: [...walk.rows, ...known.below()].slice(0, HEAD_ROWS) };
    counted = walk.lastTotal;
    // one answer: between two pages a row may come or go
    if (walk.pages === 1 && counted === now.total) return { head: now, fresh, askedAt };
  }
  throw new ListDoubt(`the provider counts ${counted} rows, ${now.total} are known`);
}

type Walk = { rows: HeadRow[]; pages: number; lastTotal: number; askedAt: Date };

/**
 * Requests page after page from the first on, one at a time, until the last row of a page is enough.
 * @param isEnough called for each row once, newest first. @throws ListDoubt
 */
async function* walkPages(
  client: ListClient,
  query: ListQuery,
  { belongs, totalMin }: Options & { totalMin: number },
  isEnough: (row: HeadRow) => boolean,
): AsyncGenerator<ListPage, Walk> {
  const rows = new Map<string, HeadRow>();
  let [lastTotal, isDone] = [totalMin, false];
  let newest: WallTime | undefined;
  let askedAt: Date | undefined;
  for (let number = 1; number <= PAGES_MAX; number++) {
    const page = await client.listPage(query, number);
    if (page) yield page;
    if (page?.rows.length !== PAGE_ROWS) throw new ListDoubt(`page ${number} is not full`);
    // a row that vanished moves those below it to an earlier page: one of them may have been skipped
    if (page.total < lastTotal) throw new ListDoubt(`the total fell from ${lastTotal} to ${page.total}`);
    lastTotal = page.total;
    askedAt ??= page.askedAt;
    for (const row of page.rows.map(toHeadRow)) {
      if (!belongs(row.createdWall)) throw new ListDoubt('the list holds rows of other days');
      // new rows move known ones to a later page, where they are shown again
      if (rows.has(row.id)) continue;
      if (newest !== undefined && row.createdWall > newest)
        throw new ListDoubt('the rows are not in the order of their creation');
      newest = row.createdWall;
      rows.set(row.id, row);
      isDone = isEnough(row);
    }
    if (isDone) return { rows: [...rows.values()], pages: number, lastTotal, askedAt };
  }
  throw new ListDoubt(`more than ${PAGES_MAX} pages are new`);
}

function toHeadRow(row: ListPage['rows'][number]): HeadRow {
  const { id, createdWall, digest } = toPageRow(row);
  if (id === null || createdWall === undefined) throw new ListDoubt('a row has no id or creation that can be read');
  return { id, createdWall, digest, status: row.ok ? row.transaction.status : undefined };
}

/** Compares rows, newest first, with a head. */
function compareWithHead(head: ListHead) {
  const places = new Map(head.rows.map(({ id }, place) => [id, place]));
  const oldest = head.rows.at(-1)?.createdWall ?? '';
  let [next, adjacent, fresh] = [0, 0, 0];
  return {
    /** @returns how many known rows follow each other up to this one. @throws ListDoubt */
    add(row: HeadRow): number {
      const place = places.get(row.id);
      if (place === undefined) {
        // below, a row that is not of the head may be known or not
        if (row.createdWall <= oldest) throw new ListDoubt(`no ${OVERLAP_ROWS} known rows follow each other`);
        fresh++;
        adjacent = 0;
        return adjacent;
      }
      if (place !== next) throw new ListDoubt('a known row is not in its place');
      checkChange(head.rows[place], row);
      next++;
      adjacent++;
      return adjacent;
    },
    /** How many of the rows were not known. */
    fresh: () => fresh,
    /** The known rows below those that were added. */
    below: () => head.rows.slice(next),
  };
}

/** An open row may change, and a payment may be refunded: the ledger applies that. Any other change is a doubt. */
function checkChange(before: HeadRow | undefined, now: HeadRow): void {
  const status = before?.status;
  if (!before || before.digest === now.digest || status === undefined || !isFinal(status)) return;
  const isRefund = now.status !== undefined && now.status !== status && !isIllegalTransition(status, now.status);
  if (!isRefund) throw new ListDoubt('a row that had ended changed');
}
