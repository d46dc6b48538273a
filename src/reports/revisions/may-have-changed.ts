import type { Context } from '../../context.ts';
import { addDays, type WallTime } from '../../domain/calendar.ts';
import { countWindowEvents } from '../plan/read-event-window.ts';
import type { Cut } from '../plan/report-plan.ts';
import { DIGESTED_FACTS } from '../read/read-facts-at-cut.ts';
import type { ReportRow } from './present-report.ts';
import { listChangedDays } from './resolve-changed-day.ts';

/** Whether anything was learnt up to the day's end since the rows were last found to be those of the newest revision. */
export async function mayHaveChanged(context: Context, newest: ReportRow, cut: Cut): Promise<boolean> {
  const end = `${addDays(newest.day, 1)} 00:00:00`;
  const learnt = async (table: 'entries' | 'events', from: number, to: number): Promise<boolean> => {
    const row = await context.db
      .selectFrom(table)
      .select('seq')
      .where('seq', '>', from)
      .where('seq', '<=', to)
      .where('at_wall', '<', end)
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  };
  return (
    (await learnt('entries', newest.checked_entry_seq, cut.entrySeq)) ||
    (await learnt('events', newest.checked_event_seq, cut.eventSeq)) ||
    (await cameLate(context, newest, end)) ||
    (await cameEventsLate(context, newest)) ||
    (await wasCorrected(context, newest, cut)) ||
    // a look that found the rows to be the same left it open, because more came, or before looks ended it
    (await listChangedDays(context.db, newest.day)).length > 0
  );
}

/** Whether a fact of a transaction of that day or an earlier one is another than it was. */
async function wasCorrected(context: Context, newest: ReportRow, cut: Cut): Promise<boolean> {
  const row = await context.db
    .selectFrom('fact_changes')
    .innerJoin('transactions', 'transactions.seq', 'fact_changes.transaction_seq')
    .select('fact_changes.seq')
    .where('fact_changes.seq', '>', newest.checked_fact_change_seq)
    .where('fact_changes.seq', '<=', cut.factChangeSeq)
    .where('fact_changes.name', 'in', DIGESTED_FACTS)
    .where('transactions.created_wall', '<', `${addDays(newest.day, 1)} 00:00:00`)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether an entry was sealed since, whose number is a lower one: no cut by numbers alone would tell. */
async function cameLate(context: Context, newest: ReportRow, end: WallTime): Promise<boolean> {
  const row = await context.db
    .selectFrom('seal_stragglers')
    .innerJoin('entries', 'entries.seq', 'seal_stragglers.entry_seq')
    .select('entry_seq')
    .where('seal_stragglers.position', '>', newest.cut_seal_position ?? 0)
    .where('entries.at_wall', '<', end)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether there are more events now below its cut than when its rows were last compared. */
async function cameEventsLate(context: Context, newest: ReportRow): Promise<boolean> {
  if (newest.checked_event_count === null) return false;
  return (await countWindowEvents(context.db, newest.cut_event_seq)) !== newest.checked_event_count;
}
