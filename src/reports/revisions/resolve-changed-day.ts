import type { Transaction } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { resolveMismatches } from '../../mismatches/resolve-mismatches.ts';
import { type EventWindow, findLateEvents } from '../plan/read-event-window.ts';
import { type Cut, toWallTimeBounds } from '../plan/report-plan.ts';
import { readCutEntries } from '../read/read-cut-entries.ts';
import { DIGESTED_FACTS } from '../read/read-facts-at-cut.ts';

type Checked = { day: Day; cut: Cut };

/**
 * Resolves the day's `closed_day_changed` if its newest revision shows all of the cut: it was made from the cut, or its
 * rows and counts are equal. Anything learnt after the cut leaves the mismatch open for the next check.
 * @param window of the snapshot of the cut's rows.
 */
export async function resolveChangedDay(
  trx: Transaction<Database>,
  { day, cut }: Checked,
  window: EventWindow,
  now: Date,
): Promise<void> {
  const changed = { kind: 'closed_day_changed' as const, scope: day };
  // lock first: a writer that raises it locks it too, so the writer's rows are committed by now
  await trx
    .selectFrom('mismatches')
    .select('seq')
    .where('kind', '=', changed.kind)
    .where('scope', '=', changed.scope)
    .forUpdate()
    .execute();
  if (await isOvertaken(trx, { day, cut }, window)) return;
  await resolveMismatches(trx, [changed], 'revised', now);
}

/** Days with an open `closed_day_changed`; only `day`, if given. */
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

/** Whether the ledger now holds anything of the day that the cut does not: above its numbers, or late below them. */
async function isOvertaken(db: Reader, { day, cut }: Checked, window: EventWindow): Promise<boolean> {
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

/** Whether a fact of a transaction with an event in the day changed since the cut: not every event has entries. */
async function wasCorrected(db: Reader, { day, cut }: Checked): Promise<boolean> {
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
