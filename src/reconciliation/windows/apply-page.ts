import { type Kysely, sql } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { isTransient, transact } from '../../database/transact.ts';
import type { Day, WallTime } from '../../domain/calendar.ts';
import { applyObservations } from '../../ledger/apply/apply-observations.ts';
import { type RefusedRow, storeRefusedRows } from '../../ledger/apply/store-refused-rows.ts';
import { transactionsApplied } from '../../metrics/metrics.ts';
import type { ListPage } from '../../provider/client.ts';
import { isInWindow } from './plan-windows.ts';
import type { RunRef, Window } from './run-ref.ts';

/**
 * Applies what a page shows of a window.
 * @param unreadable ids that the newest look could not read, kept up to date. @returns ids that are new or changed.
 */
export async function applyPage(
  context: Context,
  run: RunRef,
  window: Window,
  page: Pick<ListPage, 'page' | 'rows' | 'askedAt'>,
  unreadable: Set<string>,
): Promise<string[]> {
  const source = { kind: 'list' as const, run: { seq: run.seq, id: run.id }, page: page.page };
  const rows = page.rows.filter((row) => {
    const wall = row.ok ? row.transaction.createdWall : row.createdWall;
    return wall === undefined || isInWindow(window, wall);
  });
  const taken = rows.flatMap((row) => (row.ok ? [row] : []));
  const refused = rows.flatMap((row): RefusedRow[] =>
    row.ok ? [] : [{ ...row, source, days: daysOf(window, row.createdWall) }],
  );
  const { changed } = await applyObservations(
    context,
    taken.map((row) => ({ ...row, askedAt: page.askedAt, source })),
  );
  await storeRefusedRows(context, refused);
  for (const row of taken) unreadable.delete(row.transaction.id);
  for (const row of refused) if (row.id !== null) unreadable.add(row.id);
  return changed;
}

function daysOf(window: Window, createdWall: WallTime | undefined): { from: Day; to: Day } {
  const day = createdWall?.slice(0, 10);
  return { from: day ?? window.fromDay, to: day ?? window.toDay };
}

/** Counts each transaction once, and at once: what a killed process applied stands in the run that goes on. */
export function createAppliedCounter(context: Context, window: { seq: number }): (ids: string[]) => Promise<void> {
  const changed = new Set<string>();
  let reading: Promise<number> | undefined;
  return async (ids) => {
    const before = changed.size;
    for (const id of ids) changed.add(id);
    const fresh = changed.size - before;
    if (fresh === 0) return;
    transactionsApplied.inc({ source: 'list' }, fresh);
    // as a sum, not as so many more: a commit whose answer was lost is made again
    reading ??= readApplied(context, window);
    const applied = (await reading) + changed.size;
    const write = (db: Kysely<Database>) =>
      db
        .updateTable('run_windows')
        .set({ applied: sql`GREATEST(applied, ${applied})` })
        .where('seq', '=', window.seq)
        .execute();
    // one statement first: what a process was applying when it died is counted in as short a time as can be
    await write(context.db).catch((error: unknown) => {
      if (!isTransient(error)) throw error;
      return transact(context.db, write);
    });
  };
}

/** What those that worked the window before have counted. */
async function readApplied(context: Context, window: { seq: number }): Promise<number> {
  const row = await transact(context.db, (trx) =>
    trx.selectFrom('run_windows').select('applied').where('seq', '=', window.seq).executeTakeFirst(),
  );
  return row?.applied ?? 0;
}
