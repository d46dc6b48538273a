import type { Context } from '../../context.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import { addDays, type Day, isDay } from '../../domain/calendar.ts';
import { createId } from '../../domain/ids.ts';
import { isPlatform, NO_PLATFORM, PLATFORM_CHARS_MAX } from '../../domain/platform.ts';
import { faultOf, refuseFields } from '../../texts/refuse.ts';
import type { RunHow } from '../windows/run-ref.ts';

const DAYS_MAX = 3700;

export type RunRequest = {
  from: Day;
  to: Day;
  platform?: string | undefined;
  /** The cause of the start: a job's name, `api`, `command`. */
  trigger: string;
  createdBy: string;
  /** Reads each day whole by default. */
  how?: RunHow | undefined;
};

/**
 * Queues a run of a range of days; a worker claims it.
 * @returns its row number and id.
 * @throws ConfereError `invalid_request` for values that are no days, a range that is reversed, too long or in the future,
 *   and a platform that can't be read.
 */
export async function startRun(context: Context, request: RunRequest): Promise<{ seq: number; id: string }> {
  checkRequest(request, context.calendar.dayOf(context.clock.now()));
  const id = createId('run');
  const result = await context.db
    .insertInto('runs')
    .values({
      id,
      trigger: request.trigger,
      state: 'queued',
      from_day: request.from,
      to_day: request.to,
      platform: request.platform ?? null,
      created_at: context.clock.now(),
      created_by: request.createdBy,
      how: request.how ?? 'read',
    })
    .executeTakeFirstOrThrow();
  context.wakeUps.runs.notify();
  return { seq: requireRowNumber(result.insertId, `run ${id}`), id };
}

/** A run that failed or was abandoned can be resumed for this long; then its days are read anew. */
const RESUMED_MS_MAX = 7 * 86_400_000;

/**
 * Resumes the newest run with the same request that has not ended without an error; a failed one is queued again. Its
 * proven windows stay proven, so a long backfill does not start again. Broken windows are tried once more.
 * @returns undefined where there is none.
 */
export async function resumeRun(
  context: Context,
  request: Pick<RunRequest, 'from' | 'to' | 'platform' | 'trigger'>,
): Promise<{ id: string; proven: number; windows: number } | undefined> {
  const since = new Date(context.clock.now().getTime() - RESUMED_MS_MAX);
  const run = await context.db
    .selectFrom('runs')
    .select(['seq', 'id', 'state'])
    .where('trigger', '=', request.trigger)
    .where('from_day', '=', request.from)
    .where('to_day', '=', request.to)
    .where('platform', request.platform === undefined ? 'is' : '=', request.platform ?? null)
    .where('created_at', '>', since)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!run || !['queued', 'running', 'failed'].includes(run.state)) return undefined;
  await context.db
    .updateTable('run_windows')
    .set({ error: null })
    .where('run_seq', '=', run.seq)
    .where('state', '=', 'planned')
    .execute();
  await context.db
    .updateTable('runs')
    .set({ state: 'queued', finished_at: null, error: null })
    .where('seq', '=', run.seq)
    .where('state', '=', 'failed')
    .execute();
  const windows = await context.db.selectFrom('run_windows').select('state').where('run_seq', '=', run.seq).execute();
  const proven = windows.filter((window) => window.state !== 'planned').length;
  return { id: run.id, proven, windows: windows.length };
}

/** Whether a run of this trigger is queued or running. */
export async function hasActiveRun(context: Context, trigger: string): Promise<boolean> {
  const open = await context.db
    .selectFrom('runs')
    .select('seq')
    .where('state', 'in', ['queued', 'running'])
    .where('trigger', '=', trigger)
    .executeTakeFirst();
  return open !== undefined;
}

/**
 * Checks what a run is asked to read.
 * @param today omitted before anything is opened: then days to come are found later.
 * @throws ConfereError `invalid_request`, with every error by field.
 */
export function checkRequest({ from, to, platform }: Pick<RunRequest, 'from' | 'to' | 'platform'>, today?: Day): void {
  const faults = Object.entries({ from, to }).flatMap(([name, day]) =>
    isDay(day) ? [] : [faultOf(name, 'day_wrong')],
  );
  if (faults.length === 0 && to < from) faults.push(faultOf('to', 'to_before_from'));
  if (faults.length === 0 && to > addDays(from, DAYS_MAX)) faults.push(faultOf('to', 'to_too_late', { n: DAYS_MAX }));
  if (today !== undefined && isDay(from) && from > today) faults.push(faultOf('from', 'day_to_come', { today }));
  // the provider's list is filtered by a platform's id: it can't select transactions without one
  if (platform === NO_PLATFORM) faults.push(faultOf('platform', 'platform_not_filtered'));
  else if (platform !== undefined && !isPlatform(platform))
    faults.push(faultOf('platform', 'platform_wrong', { n: PLATFORM_CHARS_MAX }));
  if (faults.length > 0) throw refuseFields(faults);
}
