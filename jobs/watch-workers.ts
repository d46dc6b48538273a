/**
 * The alert `worker_dead`. Each worker loop records a heartbeat, and the watch is a tick in `job_ticks`. Web processes compare
 * both with the clock, because a dead worker can't report itself. While no worker sends alerts, they send them too.
 */
import { syncAlerts } from '../src/alerts/raise-alerts.ts';
import type { Context } from '../src/context.ts';
import type { Reading } from '../src/metrics/reading.ts';
import { WORKER_LOOPS } from '../src/runtime/heartbeat.ts';
import { createWakeSignal, runWorkerLoop } from '../src/runtime/wake-signal.ts';
import { summarize } from '../src/texts/alerts/describe-alert.ts';
import { findNextDue } from '../src/timetable/find-due-times.ts';

/** Three heartbeats. With the check, the sending and Alertmanager's `group_wait`, a person has the alert within two minutes. */
const DEAD_AFTER_MS = 60_000;
/** Workers may still be starting too, after a start of this process or a gap between its checks. */
const STARTING_MS = 150_000;
/** After the time at which the next tick of the watch was due. */
const TICK_LATE_MS = 120_000;
/** A watch that runs for longer hangs. It renews its lease all the same, and cannot report itself as overdue. */
const WATCH_MS_MAX = 900_000;
const CHECK_EVERY_MS = 10_000;
/** After a longer gap between two checks (the database was away, the machine slept), workers may still be starting again. */
const CHECK_GAP_MS_MAX = 60_000;

/** A part of the worker; `silentFor(since)`: how long it is overdue, if nothing before `since` counts. */
type Silence = { part: string; seenAt: Date | undefined; deadlineFrom: (since: Date) => number };

export type WorkerWatch = {
  /** Whether no worker sends alerts. */
  isSenderDead: () => boolean;
  /** Checks until the signal. */
  run: () => Promise<void>;
};

/** Creates the check of a web process. A process that has just started, or could not check for a minute, starts anew. */
export function createWorkerWatch(context: Context): WorkerWatch {
  let since: Date | undefined;
  let checkedAt: Date | undefined;
  let dead: string[] = [];
  return {
    isSenderDead: () => dead.includes('alerts'),
    run: () =>
      runWorkerLoop({
        ...{ name: 'watch of the workers', wakeUp: createWakeSignal(context.timers), idleMs: CHECK_EVERY_MS, context },
        work: async () => {
          // a worker that can't write its heartbeat may be alive
          if (!context.writes.isSettled()) {
            since = undefined;
            return false;
          }
          const parts = await readParts(context);
          const now = context.clock.now();
          if (!since || !checkedAt || now.getTime() - checkedAt.getTime() > CHECK_GAP_MS_MAX) since = now;
          checkedAt = now;
          dead = listOverdue(parts, since, now);
          // between the two, after a start of this process, an alert of another one is left as it is
          if (dead.length > 0) await syncAlerts(context, 'worker_dead', [describe(parts, dead)]);
          else if (listOverdue(parts, new Date(0), now).length === 0) await syncAlerts(context, 'worker_dead', []);
          return false;
        },
      }),
  };
}

/** Lists the parts of the worker that show no life, as far as the database knows. */
export async function listDeadParts(context: Context): Promise<string[]> {
  return listOverdue(await readParts(context), new Date(0), context.clock.now());
}

/** When each loop showed life last, on any worker. */
export async function readWorkerMetrics({ db }: Context): Promise<Reading[]> {
  const seen = await readLoops(db);
  return [
    {
      name: 'confere_worker_seen_timestamp_seconds',
      help: 'When a loop of any worker showed life last, by loop: inbox, sealer, alerts. 0 before the first.',
      values: seen.map(({ part, seenAt }) => ({ labels: { loop: part }, value: (seenAt?.getTime() ?? 0) / 1000 })),
    },
  ];
}

function listOverdue(parts: Silence[], since: Date, now: Date): string[] {
  return parts.filter((one) => one.deadlineFrom(since) < now.getTime()).map(({ part }) => part);
}

async function readParts(context: Context): Promise<Silence[]> {
  const loops = (await readLoops(context.db)).map((loop): Silence => {
    const deadlineFrom = (since: Date) =>
      Math.max((loop.seenAt?.getTime() ?? 0) + DEAD_AFTER_MS, since.getTime() + STARTING_MS);
    return { ...loop, deadlineFrom };
  });
  return [...loops, ...(await readWatch(context))];
}

async function readLoops(db: Context['db']): Promise<Pick<Silence, 'part' | 'seenAt'>[]> {
  const rows = await db
    .selectFrom('heartbeats')
    .select(['part', (eb) => eb.fn.max('seen_at').as('seen_at')])
    .where('part', 'in', WORKER_LOOPS)
    .groupBy('part')
    .execute();
  return WORKER_LOOPS.map((part) => ({ part, seenAt: rows.find((row) => row.part === part)?.seen_at ?? undefined }));
}

/** The watch, if this process is configured to run it and it has run before: a tick under lease is alive for WATCH_MS_MAX. */
async function readWatch({ config, db, clock }: Context): Promise<Silence[]> {
  if (config.JOBS === 'off' || config.JOB_WATCH === 'off') return [];
  const last = await db
    .selectFrom('job_ticks')
    .select(['due_at', 'started_at', 'finished_at', 'lease_until'])
    .where('job', '=', 'watch')
    .orderBy('due_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!last) return [];
  if (last.finished_at === null && last.lease_until > clock.now()) {
    const startedAt = last.started_at ?? last.due_at;
    return [{ part: 'watch', seenAt: startedAt, deadlineFrom: () => startedAt.getTime() + WATCH_MS_MAX }];
  }
  const nextAt = findNextDue(config.JOB_WATCH, config.PROVIDER_TIME_ZONE, last.due_at).getTime();
  const deadlineFrom = (since: Date) => Math.max(nextAt, since.getTime()) + TICK_LATE_MS;
  return [{ part: 'watch', seenAt: last.due_at, deadlineFrom }];
}

function describe(parts: Silence[], dead: string[]) {
  const silent = parts.filter(({ part }) => dead.includes(part));
  const facts = { parts: silent.map(({ part, seenAt }) => ({ part, since: seenAt?.toISOString() })) };
  return { scope: 'worker', severity: 'critical' as const, ...summarize('worker_dead', facts) };
}
