import type { Context } from '../../context.ts';
import { addDays, type WallTime } from '../../domain/calendar.ts';
import { countWindowEvents } from '../plan/read-event-window.ts';
import type { Cut } from '../plan/report-plan.ts';
import { DIGESTED_FACTS } from '../read/read-facts-at-cut.ts';
import type { ReportRow } from './present-report.ts';
import { selectMatched } from './read-learnt.ts';
import { listChangedDays } from './resolve-changed-day.ts';

/**
 * Whether the ledger learnt anything up to the day's end since the last check of the newest revision. Cheap, and true too
 * often: the caller then compares the rows.
 */
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
    (await hasLateEntries(context, newest, end)) ||
    (await hasLateEvents(context, newest)) ||
    (await wasCorrected(context, newest, cut)) ||
    (await wasMatched(context, newest, cut)) ||
    // a check that found equal rows left it open: more was learnt meanwhile, or the program was an older version
    (await listChangedDays(context.db, newest.day)).length > 0
  );
}

/** Whether a fact changed of a transaction of that day or an earlier one. */
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

/** Whether a match of a payment of the day was made or undone since, where the revision shows orders. */
async function wasMatched({ db }: Context, newest: ReportRow, { orders }: Cut): Promise<boolean> {
  const { checked_match_seq: checked } = newest;
  if (checked === null || !orders || orders.matchSeq <= checked) return false;
  const row = await selectMatched(db, { above: checked, upTo: orders.matchSeq })
    .select('made.seq')
    .where('events.at_wall', '>=', `${newest.day} 00:00:00`)
    .where('events.at_wall', '<', `${addDays(newest.day, 1)} 00:00:00`)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether a late entry was sealed since: its number is below the cut. */
async function hasLateEntries(context: Context, newest: ReportRow, end: WallTime): Promise<boolean> {
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

/** Whether late events were committed below the cut since the last check. */
async function hasLateEvents(context: Context, newest: ReportRow): Promise<boolean> {
  if (newest.checked_event_count === null) return false;
  return (await countWindowEvents(context.db, newest.cut_event_seq)) !== newest.checked_event_count;
}
