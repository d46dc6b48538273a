/**
 * The opening of a platform's books, and the run that makes them whole: a transaction created up to 96 days before the books
 * open may be paid or refunded after. The run is queued in the opening's transaction, and a worker claims it.
 */
import type { Context } from '../../context.ts';
import { addDays, type Day, listDays } from '../../domain/calendar.ts';
import { LOOKBACK_DAYS, provesDay } from '../../domain/late-days.ts';
import { type Opening, stateOpening } from '../../ledger/stated/state-opening.ts';
import { readProvenWindows } from '../numbers/read-coverage.ts';
import { startRun } from './start-run.ts';

/** The opening's id, and that of the run which reads what it needs: `null` where all of it was read today. */
export type OpenedBooks = { id: string; run: string | null };

/** States an opening as `stateOpening` does, and queues its run unless the days are read already. @throws as `stateOpening`. */
export async function openBooks(context: Context, opening: Opening): Promise<OpenedBooks> {
  const id = await stateOpening(context, opening);
  return { id, run: await queueReading(context, opening) };
}

/** Counts settle the days that were read before; the others are read whole. Openings of several platforms share a run. */
async function queueReading(context: Context, { day, actor }: Opening): Promise<string | null> {
  const { calendar, clock } = context;
  const [from, to] = [addDays(day, -LOOKBACK_DAYS), calendar.dayOf(clock.now())];
  const active = await findActiveReading(context, from, to);
  if (active !== undefined) return active;
  if (await isReadToday(context, from, to)) return null;
  return (await startRun(context, { from, to, trigger: 'opening', createdBy: actor, how: 'count' })).id;
}

/** A run that has not ended and reads, or counts, all of these days. */
async function findActiveReading({ db }: Context, from: Day, to: Day): Promise<string | undefined> {
  const run = await db
    .selectFrom('runs')
    .select('id')
    .where('state', 'in', ['queued', 'running'])
    .where('platform', 'is', null)
    .where('how', 'in', ['read', 'count'])
    .where('from_day', '<=', from)
    .where('to_day', '>=', to)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  return run?.id;
}

/** Whether each of the ended days was proven since today began: what changed in them until then is known. */
async function isReadToday({ db, calendar }: Context, from: Day, today: Day): Promise<boolean> {
  const windows = await readProvenWindows(db, from);
  const since = calendar.startOfDay(today);
  return listDays(from, addDays(today, -1)).every((day) => windows.some((window) => provesDay(window, day, since)));
}
