/**
 * Stores the evidence of every page: run, window, pass, page, total, the hash of its body and the digest of its ids.
 * While a window of many pages is being read, it also stores the digests of its rows, so that another process can resume
 * the window. Pages that arrive during a write are written together.
 */
import { createHash } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import type { ListPage } from '../../provider/client.ts';
import type { PageRow, StoredPage } from '../../provider/list/collect-rows.ts';
import { createBatcher } from '../../runtime/batch.ts';
import type { RunRef, WindowRef } from './run-ref.ts';

/** Reading a smaller window again is faster than resuming it. */
const STORED_PAGES_MIN = 10;
const BATCH_PAGES_MAX = 32;
const PAGE_ROWS = 100;

export type PageEvidence = Pick<ListPage, 'page' | 'rows' | 'total' | 'bodyHash'> & {
  pass: number;
  askedAt: Date;
  /** The filter of a count; none for a page of a whole reading. */
  status?: string;
  pageToStore?: StoredPage | undefined;
};

/** @param query names the query: pages of another query are not part of the same pass. */
export function createEvidenceWriter(
  context: Context,
  run: RunRef,
  window: WindowRef,
  query: string,
): (page: PageEvidence) => Promise<void> {
  return createBatcher<PageEvidence, void>({
    itemsMax: BATCH_PAGES_MAX,
    bytesMax: Number.POSITIVE_INFINITY,
    sizeOf: () => 0,
    inFlightMax: 1,
    work: async (pages) => {
      const rows = pages.map((page) => describe(run, window, page));
      let tries = 0;
      await transact(context.db, async (trx) => {
        // an earlier commit whose answer was lost wrote all of them, or none
        if (tries++ > 0 && (await isStored(trx, rows[0]))) return;
        await trx.insertInto('run_pages').values(rows).execute();
        await storeRows(trx, window, query, pages);
      });
      return pages.map(() => undefined);
    },
  });
}

async function isStored(trx: Transaction<Database>, row: ReturnType<typeof describe> | undefined): Promise<boolean> {
  if (!row) return true;
  const same = await trx
    .selectFrom('run_pages')
    .select('seq')
    .where('window_seq', '=', row.window_seq)
    .where('pass', '=', row.pass)
    .where('page', '=', row.page)
    .where('asked_at', '=', row.asked_at)
    .where('body_hash', '=', row.body_hash)
    .where('status', row.status === null ? 'is' : '=', row.status)
    .executeTakeFirst();
  return same !== undefined;
}

function describe(run: RunRef, window: WindowRef, page: PageEvidence) {
  const ids = createHash('sha256');
  for (const row of page.rows) ids.update(`${row.ok ? row.transaction.id : row.id}\n`);
  return {
    run_seq: run.seq,
    window_seq: window.seq,
    pass: page.pass,
    page: page.page,
    total: page.total,
    row_count: page.rows.length,
    body_hash: page.bodyHash,
    ids_digest: ids.digest(),
    asked_at: page.askedAt,
    status: page.status ?? null,
  };
}

async function storeRows(
  trx: Transaction<Database>,
  window: WindowRef,
  query: string,
  pages: PageEvidence[],
): Promise<void> {
  const rows = pages.flatMap(({ pass, page, total, pageToStore }) =>
    pageToStore && total > STORED_PAGES_MIN * PAGE_ROWS
      ? [
          {
            ...{
              window_seq: window.seq,
              pass,
              page,
              place: pageToStore.place,
              query,
              total,
              last_page: pageToStore.lastPage,
            },
            ...{ asked_at: pageToStore.askedAt, page_rows: packRows(pageToStore.rows) },
          },
        ]
      : [],
  );
  if (rows.length === 0) return;
  // a stopped process may write after another resumed its window: both answers are true, the first stays
  await trx
    .insertInto('run_page_rows')
    .values(rows)
    .onDuplicateKeyUpdate((eb) => ({ place: eb.ref('run_page_rows.place') }))
    .execute();
}

/** As text: the driver writes a Buffer as hex digits, twice as long. */
function packRows(rows: PageRow[]): string {
  return JSON.stringify(rows.map((row) => [row.id, row.createdWall ?? null, row.digest]));
}

function unpackRows(packed: Buffer): PageRow[] {
  const rows = JSON.parse(packed.toString()) as [string | null, string | null, string][];
  return rows.map(([id, createdWall, digest]) => ({ id, createdWall: createdWall ?? undefined, digest }));
}

/** The pages that a killed process had read of a window with this query, by pass and page. */
export async function readStoredPages(
  context: Context,
  window: WindowRef,
  query: string,
): Promise<Map<number, Map<number, StoredPage>>> {
  const rows = await context.db
    .selectFrom('run_page_rows')
    .selectAll()
    .where('window_seq', '=', window.seq)
    .where('query', '=', query)
    .orderBy('page')
    .execute();
  const passes = new Map<number, Map<number, StoredPage>>();
  for (const row of rows) {
    const pages = passes.get(row.pass) ?? new Map<number, StoredPage>();
    passes.set(row.pass, pages);
    pages.set(row.page, {
      ...{ place: row.place, total: row.total, lastPage: row.last_page, askedAt: row.asked_at },
      rows: unpackRows(row.page_rows),
    });
  }
  return passes;
}

/** Called once a window is finished, or can't be resumed. */
export async function deleteStoredPages(context: Context, window: { seq: number }): Promise<void> {
  await transact(context.db, (trx) => trx.deleteFrom('run_page_rows').where('window_seq', '=', window.seq).execute());
}
