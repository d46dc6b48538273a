import type { Reader } from '../../database/reader.ts';

/** The pages of a run in the order in which they were stored. @param after returns rows after this row number. */
export async function listPages(db: Reader, runSeq: number, limit: number, after: number | undefined) {
  const rows = await selectPages(db, limit, after).where('run_windows.run_seq', '=', runSeq).execute();
  return rows.map((row) => ({ seq: row.seq, ...presentPage(row) }));
}

/** Base query: pages in the order in which they were stored, each with the days of its window. */
export function selectPages(db: Reader, limit: number, after = 0) {
  return db
    .selectFrom('run_pages')
    .innerJoin('run_windows', 'run_windows.seq', 'run_pages.window_seq')
    .selectAll('run_pages')
    .select(['run_windows.from_day', 'run_windows.to_day'])
    .where('run_pages.seq', '>', after)
    .orderBy('run_pages.seq')
    .limit(limit);
}

type PageRow = Awaited<ReturnType<ReturnType<typeof selectPages>['execute']>>[number];

/** A page as the API lists it. The digest of folded pages is made of these values, in this order. */
export function presentPage(row: PageRow) {
  return {
    from: row.from_day,
    to: row.to_day,
    pass: row.pass,
    page: row.page,
    // the filter of a count; null for the day's own total
    status: row.status,
    total: row.total,
    rows: row.row_count,
    body_sha256: row.body_hash.toString('hex'),
    ids_sha256: row.ids_digest.toString('hex'),
    asked_at: row.asked_at.toISOString(),
  };
}
