import type { Selectable } from 'kysely';
import type { Context } from '../context.ts';
import { readSetting } from '../database/keys/settings.ts';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import type { Message } from '../domain/errors.ts';
import { maskText } from '../domain/person/mask-person.ts';
import { type Said, saidOf } from '../texts/messages.ts';
import { isFailing, isOverdue, type Tick } from './evaluate-job.ts';
import { findDueTimes } from './find-due-times.ts';
import { type Job, type JobName, listJobs, PACED_JOBS } from './list-jobs.ts';

/** The last tick and, while it runs, as many before it as the rule of failures asks for. */
const RECENT_TICKS = 4;

export type JobState = ReturnType<typeof describeJob>;

/** Class or code, our own message without personal data, and both as an English text. */
type TickError = { code?: string; said?: Said | undefined; text: string };

type Row = Selectable<Database['job_ticks']>;

/** Reads the state of each job. It depends on the database and the configuration only, so all replicas agree. */
export async function readJobStates(context: Context): Promise<JobState[]> {
  const now = context.clock.now();
  const since = await readFirstStart(context.db);
  const states: JobState[] = [];
  for (const job of listJobs(context.config)) {
    const rows = await listTicks(context.db, job.name).limit(RECENT_TICKS).execute();
    const success = await listSuccesses(context.db, job.name).executeTakeFirst();
    states.push(describeJob({ ...job, zone: context.config.PROVIDER_TIME_ZONE }, { rows, success, since }, now));
  }
  return states;
}

/** @returns the newest tick of each job that has one. */
export async function readLastTicks(db: Reader): Promise<Map<string, Tick>> {
  const newest = db
    .selectFrom('job_ticks')
    .select(['job', (eb) => eb.fn.max('due_at').as('due_at')])
    .groupBy('job');
  const rows = await db
    .selectFrom(newest.as('newest'))
    .innerJoin('job_ticks', (join) =>
      join.onRef('job_ticks.job', '=', 'newest.job').onRef('job_ticks.due_at', '=', 'newest.due_at'),
    )
    .selectAll('job_ticks')
    .execute();
  return new Map(rows.map((row) => [row.job, toTick(row)]));
}

/** @returns when the newest tick of a job that succeeded ended; undefined if none did, or none is stored any more. */
export async function findLastSuccess(db: Reader, job: JobName): Promise<Date | undefined> {
  const success = await listSuccesses(db, job).executeTakeFirst();
  return success?.finished_at ?? undefined;
}

/** @returns when the service first started on this database: nothing was due before. */
export async function readFirstStart(db: Reader): Promise<Date> {
  return new Date((await readSetting(db, 'webhooks_since'))?.toString() ?? 0);
}

function listTicks(db: Reader, job: string) {
  return db.selectFrom('job_ticks').selectAll().where('job', '=', job).orderBy('due_at', 'desc');
}

function listSuccesses(db: Reader, job: string) {
  return listTicks(db, job).where('finished_at', 'is not', null).where('error', 'is', null).limit(1);
}

function describeJob(
  job: Job & { zone: string },
  { rows, success, since }: { rows: Row[]; success: Row | undefined; since: Date },
  now: Date,
) {
  const [last] = rows;
  const finished = rows.filter((row) => row.finished_at !== null);
  const newest = finished[0] ?? success;
  return {
    name: job.name,
    // in the provider's time zone, or `off`
    cron: job.cron,
    last: last ? describeTick(last) : null,
    lastSuccessAt: success?.finished_at ?? null,
    // the newest finished tick's end; null: none stored
    lastFailed: newest ? newest.error !== null : null,
    lastDurationMs: newest ? measure(newest) : null,
    // null if the job is off
    nextAt: job.cron === 'off' ? null : findDueTimes(job.cron, job.zone, now).next,
    overdue: isOverdue({ ...job, isPaced: PACED_JOBS.has(job.name) }, { last: last && toTick(last), since }, now),
    // whether `job_failed` fires
    failing: isFailing(
      job,
      finished.map((row) => row.error !== null),
      now,
    ),
  };
}

function describeTick(row: Row) {
  return {
    dueAt: row.due_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    outcome: describeOutcome(row),
    durationMs: measure(row),
    tries: row.tries,
    // the process that runs it; null once it has ended
    holder: row.finished_at === null ? row.holder : null,
    error: row.error === null ? null : readStoredError(row.error),
  };
}

function describeOutcome({ finished_at, error }: Row): 'running' | 'done' | 'failed' {
  if (finished_at === null) return 'running';
  return error === null ? 'done' : 'failed';
}

const toTick = (row: Row): Tick => ({
  dueAt: row.due_at,
  startedAt: row.started_at,
  leaseUntil: row.lease_until,
  finishedAt: row.finished_at,
});

function measure({ started_at, finished_at }: Row): number | null {
  return started_at && finished_at ? finished_at.getTime() - started_at.getTime() : null;
}

/** @param stored the JSON of `describeError`, with the messages that the error said. */
function readStoredError(stored: string): TickError {
  try {
    const { name, code = name, message, at, said } = JSON.parse(stored) as StoredError;
    const text = message ? maskText(message) : at?.[0];
    return { code, said: text && saidOf(text, said), text: [code, text].filter(Boolean).join(': ') };
  } catch {
    // cut off at the column's limit
    return { text: maskText(stored) };
  }
}

type StoredError = { name: string; code?: string; message?: string; at?: string[]; said?: Message[] };
