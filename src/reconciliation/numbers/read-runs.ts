import type { Selectable } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';

/** A run as the API shows it; an open one with what it has read so far. `mismatches` and `by_kind` also count those that the watch raised later on its evidence. */
export type PresentedRun = Omit<Awaited<ReturnType<typeof present>>[number], 'seq'>;

/** Runs, newest first. @param after returns runs below this row number. */
export async function listRuns(db: Reader, limit: number, after: number | undefined) {
  let query = db.selectFrom('runs').selectAll().orderBy('seq', 'desc').limit(limit);
  if (after !== undefined) query = query.where('seq', '<', after);
  return await present(db, await query.execute());
}

export async function findRun(db: Reader, id: string) {
  const rows = await db.selectFrom('runs').selectAll().where('id', '=', id).execute();
  return (await present(db, rows))[0];
}

async function present(db: Reader, rows: Selectable<Database['runs']>[]) {
  if (rows.length === 0) return [];
  const counts = await db
    .selectFrom('mismatches')
    .select(['run_seq', 'kind', (eb) => eb.fn.countAll<number>().as('count')])
    .where(
      'run_seq',
      'in',
      rows.map((row) => row.seq),
    )
    .groupBy(['run_seq', 'kind'])
    .execute();
  const progress = await readProgress(db, rows);
  return rows.map((row) => {
    const kinds = counts.filter((count) => count.run_seq === row.seq);
    return {
      seq: row.seq,
      id: row.id,
      state: row.state,
      from: row.from_day,
      to: row.to_day,
      platform: row.platform,
      trigger: row.trigger,
      how: row.how,
      requests: row.requests,
      days_counted: row.days_counted,
      days_recent: row.days_recent,
      pages: row.pages,
      passes: row.passes,
      total: row.total,
      seen: row.seen,
      applied: row.applied,
      mismatches: kinds.reduce((sum, kind) => sum + Number(kind.count), 0),
      by_kind: Object.fromEntries(kinds.map((kind) => [kind.kind, Number(kind.count)])),
      started_at: row.started_at?.toISOString() ?? null,
      finished_at: row.finished_at?.toISOString() ?? null,
      error: row.error,
      ...progress.get(row.seq),
    };
  });
}

type Progress = { pages: number; seen: number; applied: number };

/** Sums what the open ones of these runs have read: finished windows, and the pages of the newest pass of the others. */
async function readProgress(db: Reader, runs: { seq: number; state: string }[]): Promise<Map<number, Progress>> {
  const sums = new Map<number, Progress>();
  const open = runs.filter(({ state }) => state === 'queued' || state === 'running').map(({ seq }) => seq);
  if (open.length === 0) return sums;
  const passes = await readPasses(db, open);
  for (const [index, row] of passes.entries()) {
    const sum = sums.get(row.run_seq) ?? { pages: 0, seen: 0, applied: 0 };
    sum.pages += Number(row.pages);
    if (passes[index + 1]?.seq !== row.seq) {
      sum.seen += row.state === 'planned' ? Number(row.rows ?? 0) : row.seen;
      sum.applied += row.applied;
    }
    sums.set(row.run_seq, sum);
  }
  return sums;
}

/** The passes of each window, the newest last; a window without pages has one without a number. */
async function readPasses(db: Reader, runSeqs: number[]) {
  return await db
    .selectFrom('run_windows')
    .leftJoin('run_pages', 'run_pages.window_seq', 'run_windows.seq')
    .select(['run_windows.seq', 'run_windows.run_seq', 'state', 'seen', 'applied', 'pass'])
    .select((eb) => [eb.fn.count<number>('run_pages.seq').as('pages'), eb.fn.sum('row_count').as('rows')])
    .select((eb) => [eb.fn.max('run_pages.total').as('announced'), eb.fn.max('row_count').as('page_rows')])
    .where('run_windows.run_seq', 'in', runSeqs)
    .groupBy(['run_windows.seq', 'pass'])
    .orderBy('run_windows.seq')
    .orderBy('pass')
    .execute();
}

/** Pages that a reading has, and those that the provider announced so far; both change while it reads. */
export type PageProgress = { pages: number; known: number };

/** Reads how far the days are that a run reads now, by their newest passes. It is no conclusion. @returns undefined before their first page. */
export async function readPageProgress(db: Reader, runSeq: number): Promise<PageProgress | undefined> {
  const passes = (await readPasses(db, [runSeq])).filter(({ state, pass }) => state === 'planned' && pass !== null);
  const newest = passes.filter(({ seq }, index) => passes[index + 1]?.seq !== seq);
  if (newest.length === 0) return undefined;
  const pages = newest.reduce((sum, one) => sum + Number(one.pages), 0);
  const known = newest.reduce((sum, one) => sum + Math.ceil((one.announced ?? 0) / (one.page_rows || 1)), 0);
  return { pages, known: Math.max(pages, known) };
}
