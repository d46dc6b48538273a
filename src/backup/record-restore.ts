import { auditChange, SYSTEM_ACTOR } from '../access/audit.ts';
import type { Context } from '../context.ts';
import { type Restore, readRestores } from '../database/restores.ts';
import { addDays } from '../domain/calendar.ts';
import { ConfereError, wrongUse } from '../domain/errors.ts';
import { LOOKBACK_DAYS } from '../domain/late-days.ts';
import { startRun } from '../reconciliation/runs/start-run.ts';
import { readNewestSeal } from '../seal/read-seals.ts';
import { parseCheckpoint } from '../tlog/note.ts';
import { beginOrigin, nameRestored, RESTORE_ACTION, type RestoredLog, readOrigins } from '../tlog/origins.ts';
import { readRecorded } from '../tlog/recorded.ts';
import { readSize } from '../tlog/tree.ts';
import { askWitnesses } from '../tlog/witnesses.ts';

/** Triggers of the runs over the gap, and over older days whose transactions may have changed in it. */
export const GAP_RUN = 'restored';
export const LATE_RUN = 'restored_late';
/** A restore, and how the log went on after it. */
export type RecordedRestore = Restore & { log: RestoredLog };
/** More than any number of callbacks that the lost time can have given positions to. */
const POSITIONS_SKIPPED = 1_000_000_000;

/**
 * Records that this database was restored from a backup: from now on callbacks are held, and nothing that the backup lacks
 * is called lost or broken. The log continues only if its witnesses accept it as the newest that they saw; else it begins another
 * origin, with the leaves that are there.
 *
 * Cursors that merchants got in the lost time must not point past events to come: new positions of each feed begin far
 * beyond them. Spools of the lost machines no longer delay the search for lost webhooks.
 * @param gapFrom everything answered or committed before is in the backup.
 * @throws ConfereError `conflict` while an earlier restore is not confirmed.
 */
export async function recordRestore(context: Context, gapFrom: Date): Promise<RecordedRestore> {
  const now = context.clock.now();
  if (gapFrom > now) throw wrongUse(`the backup cannot be of ${gapFrom.toISOString()}: that is to come`);
  const verdict = await assessLog(context);
  return await auditChange(
    context,
    async ({ db }) => {
      const earlier = await findLastRestore(db);
      if (earlier && earlier.confirmed_at === null)
        throw new ConfereError(
          'conflict',
          `a restore of ${earlier.restored_at.toISOString()} is recorded and not confirmed: see confere doctor --restored`,
        );
      const head = await readNewestSeal(db);
      await db
        .insertInto('restores')
        .values({ gap_from: gapFrom, restored_at: now, head_position: head?.position ?? 0 })
        .execute();
      await db
        .updateTable('merchants')
        .set((eb) => ({ last_position: eb('last_position', '+', POSITIONS_SKIPPED) }))
        .execute();
      await db.deleteFrom('spools').execute();
      // the backup may be older than the first checkpoint
      const before = (await readOrigins(db)).at(-1);
      const { origin, from_size: leaves } =
        before && verdict === 'accepted'
          ? { ...before, from_size: await readSize(db) }
          : await beginOrigin({ ...context, db }, nameRestored(context, before, now));
      const restore = await findLastRestore(db);
      if (!restore) throw new ConfereError('unavailable', 'the restore was not recorded');
      return { ...restore, log: { origin, leaves, verdict } };
    },
    ({ gap_from, head_position, log }) => ({
      actor: 'command',
      action: RESTORE_ACTION,
      target: 'database',
      detail: JSON.stringify({ gap_from: gap_from.toISOString(), head_position, log }),
    }),
  );
}

/** Whether the log may go on as it is. One that lacks what it signed would sign other leaves in their place. */
async function assessLog(context: Context): Promise<RestoredLog['verdict']> {
  const verdict = await askWitnesses(context);
  if (verdict !== 'accepted') return verdict;
  const size = await readSize(context.db);
  const notes = (await readRecorded(context.config)).flatMap((one) => one.notes);
  return notes.some((note) => (parseCheckpoint(note)?.size ?? 0) > size) ? 'recorded' : verdict;
}

/** Returns the newest restore; undefined if there was none. */
export async function findLastRestore(db: Context['db']): Promise<Restore | undefined> {
  return (await readRestores(db)).at(-1);
}

/**
 * Queues the runs that learn what the gap hides, once: days of the gap are read whole; older days, whose transactions may
 * have changed in it, by counts where these add up. Workers process them.
 */
export async function queueGapRuns(context: Context, restore: Restore): Promise<void> {
  const { calendar, clock } = context;
  const today = calendar.dayOf(clock.now());
  const runs = [
    // a day more: the provider's clock may differ from the database's
    { trigger: GAP_RUN, from: addDays(calendar.dayOf(restore.gap_from), -1), how: 'read' },
    { trigger: LATE_RUN, from: addDays(today, -LOOKBACK_DAYS), how: 'count' },
  ] as const;
  for (const { trigger, from, how } of runs) {
    if ((await findGapRun(context, restore, trigger)) !== undefined) continue;
    await startRun(context, { from, to: today, trigger, createdBy: SYSTEM_ACTOR, how });
  }
}

/** Returns the newest run of a trigger that was started for this restore. */
export async function findGapRun({ db }: Context, { restored_at }: Restore, trigger: string) {
  return await db
    .selectFrom('runs')
    .select(['id', 'state', 'from_day', 'to_day', 'error'])
    .where('trigger', '=', trigger)
    .where('created_at', '>=', restored_at)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
}
