import type { Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { leaveExpectedWork } from '../../database/shared/leave-expected-work.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { type Day, listDays } from '../../domain/calendar.ts';
import { raiseMismatches } from '../../mismatches/raise-mismatches.ts';
import { resolveMismatches } from '../../mismatches/resolve-mismatches.ts';
import { describeSaid, storeError } from '../../texts/messages.ts';
import { listEndedDays } from './plan-windows.ts';
import type { RunRef, WindowRef, WindowResult } from './run-ref.ts';
import { deleteStoredPages } from './store-pages.ts';

/** Writes the result of a window, and raises or resolves `list_unstable` for each of its ended days. */
export async function finishWindow(
  context: Context,
  run: RunRef,
  window: WindowRef,
  result: WindowResult,
): Promise<void> {
  const now = context.clock.now();
  const days = listEndedDays(window, context.calendar, now);
  await transact(
    context.db,
    async (trx) => {
      await trx
        .updateTable('run_windows')
        .set({
          state: result.state,
          pages: (eb) =>
            eb
              .selectFrom('run_pages')
              .where('window_seq', '=', window.seq)
              .select((count) => count.fn.countAll<number>().as('pages')),
          passes: result.passes,
          total: result.total,
          seen: result.seen,
          surplus: result.surplus,
          asked_at: result.askedAt,
          ...storeError(result.reason && [result.reason]),
        })
        .where('seq', '=', window.seq)
        .execute();
      if (result.state === 'complete') await resolveUnidentifiedRows(trx, window, now);
      if (result.state === 'complete' || result.state === 'counted') {
        await resolveUnstable(trx, days, run, now);
        await leaveProven(trx, days, run, now);
      }
      if (result.state === 'incomplete') {
        const found = days.map((day) => ({
          kind: 'list_unstable' as const,
          scope: run.platform ? `${day} ${run.platform}` : day,
          baseline: context.calendar.endOfDay(day) <= context.webhooksSince,
          runSeq: run.seq,
          expected: { passes: 'one clean, or two alike' },
          actual: {
            ...{ passes: result.passes, last: result.reason && describeSaid([result.reason]) },
            ...(result.surplus > 0 ? { surplus: result.surplus } : {}),
          },
        }));
        await raiseMismatches(trx, found, now);
      }
    },
    { retryDuplicates: true },
  );
  await deleteStoredPages(context, window);
  if (result.state === 'incomplete') context.wakeUps.alerts.notify();
}

/** Expected payments without a payment may be unpaid now. A reading of one platform proves no day. */
async function leaveProven(trx: Transaction<Database>, days: Day[], run: RunRef, now: Date): Promise<void> {
  const [from, to] = [days[0], days.at(-1)];
  if (from && to && run.platform === null) await leaveExpectedWork(trx, [{ from_day: from, to_day: to }], now);
}

/** A proof of a day without a platform holds for each platform. */
async function resolveUnstable(trx: Transaction<Database>, days: Day[], run: RunRef, now: Date): Promise<void> {
  const rows = await trx
    .selectFrom('mismatches')
    .select('scope')
    .where((eb) =>
      eb.or(
        days.flatMap((day) =>
          (['open_scope', 'kept_scope'] as const).map((column) =>
            run.platform
              ? eb(column, '=', `list_unstable ${day} ${run.platform}`)
              : eb.and([eb(column, '>=', `list_unstable ${day}`), eb(column, '<', `list_unstable ${day}!`)]),
          ),
        ),
      ),
    )
    .execute();
  const over = rows.map(({ scope }) => ({ kind: 'list_unstable' as const, scope }));
  await resolveMismatches(trx, over, 'fresh_evidence', now);
}

/**
 * Resolves `row_refused` of rows without a readable id, where all of the row's days were read completely since. A
 * reading that meets such a row is never complete. Call it once the window is stored as complete.
 */
async function resolveUnidentifiedRows(trx: Transaction<Database>, window: WindowRef, now: Date): Promise<void> {
  const open = await trx
    .selectFrom('mismatches')
    .leftJoin('runs', 'runs.seq', 'mismatches.run_seq')
    .select(['scope', 'actual', 'opened_at', 'from_day', 'to_day'])
    .where('open_scope', '>=', 'row_refused row:')
    .where('open_scope', '<', 'row_refused row;')
    .execute();
  const over: { kind: 'row_refused'; scope: string; askedAt: Date }[] = [];
  for (const { scope, actual, opened_at: openedAt, ...run } of open) {
    // earlier versions stored the run that met the row, not its days
    const ofRun = run.from_day && run.to_day ? { from: run.from_day, to: run.to_day } : undefined;
    const { days = ofRun } = JSON.parse(actual ?? '{}') as { days?: { from: Day; to: Day } };
    if (!days || days.to < window.fromDay || days.from > window.toDay) continue;
    const readings = await trx
      .selectFrom('run_windows')
      .select(['from_day', 'to_day'])
      .where('state', '=', 'complete')
      .where('platform', 'is', null)
      .where('from_day', '<=', days.to)
      .where('to_day', '>=', days.from)
      .where('asked_at', '>=', openedAt)
      .execute();
    const isRead = (day: Day): boolean => readings.some((one) => one.from_day <= day && one.to_day >= day);
    // one that was found again since this read it stays open
    if (listDays(days.from, days.to).every(isRead)) over.push({ kind: 'row_refused', scope, askedAt: openedAt });
  }
  await resolveMismatches(trx, over, 'fresh_evidence', now);
}
