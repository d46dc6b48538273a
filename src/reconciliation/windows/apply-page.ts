import { type Kysely, sql } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { isTransient, transact } from '../../database/transact.ts';
import type { Day, WallTime } from '../../domain/calendar.ts';
import { applyObservations } from '../../ledger/apply/apply-observations.ts';
import { type RefusedRow, storeRefusedRows } from '../../ledger/apply/store-refused-rows.ts';
import { transactionsApplied } from '../../metrics/metrics.ts';
import type { ListPage } from '../../provider/client.ts';
import { currentTraceparent, inSpan } from '../../tracing/in-span.ts';
import { isInWindow } from './plan-windows.ts';
import type { RunRef, Window } from './run-ref.ts';

/**
 * Applies the rows of a page that belong to a window, and stores unreadable ones as `row_refused`.
 * @param unreadable ids whose newest row was unreadable; updated here. @returns ids that are new or changed.
 */
export async function applyPage(
  context: Context,
  run: RunRef,
  window: Window,
  page: Pick<ListPage, 'page' | 'rows' | 'askedAt'>,
  unreadable: Set<string>,
): Promise<string[]> {
  const attributes = { 'confere.run': run.id, 'confere.page': page.page, 'confere.rows': page.rows.length };
  return await inSpan('reconciliation.page', attributes, () => applyRows(context, run, window, page, unreadable));
}

async function applyRows(...[context, run, window, page, unreadable]: Parameters<typeof applyPage>): Promise<string[]> {
  const traceparent = currentTraceparent();
  const source = { kind: 'list' as const, run: { seq: run.seq, id: run.id }, page: page.page, traceparent };
  const rows = page.rows.filter((row) => {
    const wall = row.ok ? row.transaction.createdWall : row.createdWall;
    return wall === undefined || isInWindow(window, wall);
  });
  const readable = rows.flatMap((row) => (row.ok ? [row] : []));
  const refused = rows.flatMap((row): RefusedRow[] =>
    row.ok ? [] : [{ ...row, source, days: daysOf(window, row.createdWall) }],
  );
  const { changed } = await applyObservations(
    context,
    readable.map((row) => ({ ...row, askedAt: page.askedAt, source })),
  );
  await storeRefusedRows(context, refused);
  for (const row of readable) unreadable.delete(row.transaction.id);
  for (const row of refused) if (row.id !== null) unreadable.add(row.id);
  return changed;
}

function daysOf(window: Window, createdWall: WallTime | undefined): { from: Day; to: Day } {
  const day = createdWall?.slice(0, 10);
  return { from: day ?? window.fromDay, to: day ?? window.toDay };
}

/** Writes how many transactions a window changed, each counted once. Written after each page, so that a kill loses none. */
export function createAppliedCounter(context: Context, window: { seq: number }): (ids: string[]) => Promise<void> {
  const changed = new Set<string>();
  let reading: Promise<number> | undefined;
  return async (ids) => {
    const before = changed.size;
    for (const id of ids) changed.add(id);
    const fresh = changed.size - before;
    if (fresh === 0) return;
    transactionsApplied.inc({ source: 'list' }, fresh);
    // as a sum, not as an increment: a commit whose answer was lost is repeated
    reading ??= readApplied(context, window);
    const applied = (await reading) + changed.size;
    const write = (db: Kysely<Database>) =>
      db
        .updateTable('run_windows')
        .set({ applied: sql`GREATEST(applied, ${applied})` })
        .where('seq', '=', window.seq)
        .execute();
    // first without a transaction: the shorter the write, the less a kill leaves uncounted
    await write(context.db).catch((error: unknown) => {
      if (!isTransient(error)) throw error;
      return transact(context.db, write);
    });
  };
}

/** The count of earlier processes that read this window. */
async function readApplied(context: Context, window: { seq: number }): Promise<number> {
  const row = await transact(context.db, (trx) =>
    trx.selectFrom('run_windows').select('applied').where('seq', '=', window.seq).executeTakeFirst(),
  );
  return row?.applied ?? 0;
}
