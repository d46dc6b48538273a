import type { Transaction } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { resolveMismatches } from '../../mismatches/resolve-mismatches.ts';
import { type EventWindow, findLateEvents } from '../plan/read-event-window.ts';
import { type Cut, toWallTimeBounds } from '../plan/report-plan.ts';
import { readCutEntries } from '../read/read-cut-entries.ts';
import { DIGESTED_FACTS } from '../read/read-facts-at-cut.ts';

type Looked = { day: Day; cut: Cut };

/**
 * Ends the day's `closed_day_changed` once its newest revision says all that the cut holds: it was made from it, or the
 * rows and counts of the cut are still the ones that it says. What was learnt after the cut leaves it open for the next.
 * @param window of the snapshot that the cut's rows were read from.
 */
export async function resolveChangedDay(
  trx: Transaction<Database>,
  { day, cut }: Looked,
  window: EventWindow,
  now: Date,
): Promise<void> {
  const over = { kind: 'closed_day_changed' as const, scope: day };
  // locked first: whoever tells of a change locks it too, and what they wrote is committed by now
  await trx
    .selectFrom('mismatches')
    .select('seq')
    .where('kind', '=', over.kind)
    .where('scope', '=', over.scope)
    .forUpdate()
    .execute();
  if (await isOvertaken(trx, { day, cut }, window)) return;
  await resolveMismatches(trx, [over], 'revised', now);
}

/** Days that changed since their revision, as far as no look ended that yet: that day alone where one is asked for. */
export async function listChangedDays(db: Reader, day?: Day): Promise<Day[]> {
  const rows = await db
    .selectFrom('mismatches')
    .select('scope')
    .where('kind', '=', 'closed_day_changed')
    .where('state', '!=', 'resolved')
    .$if(day !== undefined, (query) => query.where('scope', '=', day ?? ''))
    .execute();
  return rows.map((row) => row.scope);
}

/** Whether anything of the day is known by now that the cut does not hold: above its numbers, or come late below them. */
async function isOvertaken(db: Reader, { day, cut }: Looked, window: EventWindow): Promise<boolean> {
  const { entrySeq, eventSeq } = cut;
  const { lateEntries: late } = await readCutEntries(db, cut);
  const lateEvents = await findLateEvents(db, eventSeq, window);
  return (
    (await isOfDay(db, day, 'entries', { above: entrySeq, or: late })) ||
    (await isOfDay(db, day, 'events', { above: eventSeq, or: lateEvents })) ||
    (await wasCorrected(db, { day, cut }))
  );
}

async function isOfDay(
  db: Reader,
  day: Day,
  table: 'entries' | 'events',
  { above, or }: { above: number; or: readonly number[] },
): Promise<boolean> {
  const { start, end } = toWallTimeBounds(day, addDays(day, 1));
  const row = await db
    .selectFrom(table)
    .select('seq')
    .where('at_wall', '>=', start)
    .where('at_wall', '<', end)
    .where((eb) => eb.or([eb('seq', '>', above), ...(or.length > 0 ? [eb('seq', 'in', or)] : [])]))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether a person has corrected something that happened in the day since the cut: not every event has entries. */
async function wasCorrected(db: Reader, { day, cut }: Looked): Promise<boolean> {
  const { start, end } = toWallTimeBounds(day, addDays(day, 1));
  const row = await db
    .selectFrom('fact_changes')
    .innerJoin('events', 'events.transaction_seq', 'fact_changes.transaction_seq')
    .select('fact_changes.seq')
    .where('fact_changes.seq', '>', cut.factChangeSeq)
    .where('fact_changes.name', 'in', DIGESTED_FACTS)
    .where('events.at_wall', '>=', start)
    .where('events.at_wall', '<', end)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
