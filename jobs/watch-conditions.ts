/** Alerts about Confere's own work. The watch checks each condition every minute: it raises the alert, and ends it. */

import { type AlertOfKind, syncAlerts } from '../src/alerts/raise-alerts.ts';
import { IS_NO_FAILED_TEST } from '../src/callbacks/health/callback-sources.ts';
import { readWaitingMerchants } from '../src/callbacks/health/read-waiting-merchants.ts';
import type { Context } from '../src/context.ts';
import { CLOCK_MS_MAX } from '../src/database/clock.ts';
import { findUnconfirmedRestore } from '../src/database/restores.ts';
import { addDays, HOUR_MS, listDays, MINUTE_MS } from '../src/domain/calendar.ts';
import { maskText } from '../src/domain/person/mask-person.ts';
import { findOldestUndecided } from '../src/expected/read-expected-metrics.ts';
import { findOldestUnverified } from '../src/inbox/manage/read-inbox-metrics.ts';
import { readRecentLoss } from '../src/reconciliation/numbers/read-webhook-days.ts';
import { readProcesses } from '../src/runtime/read-processes.ts';
import type { AlertKind } from '../src/texts/alerts/alert-kinds.ts';
import { summarize } from '../src/texts/alerts/describe-alert.ts';

/** Heartbeats that are older are of processes that have ended. */
const CLOCK_SEEN_MS_MAX = MINUTE_MS;
/**
 * How long a webhook may wait for its first answered fetch, an item for a fetch that is due, a due callback for its attempt, and a
 * change for the follower's decision.
 */
const BEHIND_MS = 10 * MINUTE_MS;
/** How long runs of today may end without a complete or recent reading of today: a dozen runs. */
const NO_COMPLETE_RUN_MS = 60 * MINUTE_MS;
/** How long after its tick a report may be missing. */
const REPORT_LATE_MS = 60 * MINUTE_MS;
/** How long a failed callback is alerted, unless it is sent again. */
const FAILED_MS = 24 * 60 * MINUTE_MS;
/** Older callbacks are not searched: the retry schedule ends within days. */
const FAILED_CREATED_MS_MAX = 30 * 24 * 60 * MINUTE_MS;
/** The newest complete windows of yesterday and today among which the last one of a running day is searched. */
const WINDOWS_MAX = 50;
/** A missing report is alerted for this many days. */
const REPORT_DAYS_MAX = 7;

/** The share of the changes of LOSS_MS that may come without a webhook, if there are LOSS_CHANGES_MIN of them. */
const LOSS_PERCENT_MAX = 5;
const LOSS_CHANGES_MIN = 20;
const LOSS_MS = 6 * HOUR_MS;

type Condition = (context: Context, now: Date) => Promise<AlertOfKind[]>;

const CONDITIONS = {
  clock_differs: findWrongClocks,
  inbox_behind: findInboxBehind,
  callbacks_behind: findCallbacksBehind,
  expected_behind: findExpectedBehind,
  callback_failed: findFailedCallbacks,
  no_complete_run: findNoCompleteRun,
  report_missing: findMissingReports,
  restore_unconfirmed: findWaitingRestore,
  two_writers: findTwoWriters,
  webhook_loss_rate: findWebhookLoss,
} satisfies Partial<Record<AlertKind, Condition>>;

const PROVIDER_CAUSES = ['provider_failing provider', 'provider_unauthorized provider'];
/** Alerts that explain another one, by name and scope. */
export const CAUSES: Partial<Record<AlertKind, string[]>> = {
  inbox_behind: PROVIDER_CAUSES,
  no_complete_run: [...PROVIDER_CAUSES, 'run_failed reconcile_recent'],
  report_missing: ['job_failed daily_report', 'job_overdue daily_report'],
};

/** The steps of the watch: one for each alert. */
export const CONDITION_STEPS = Object.fromEntries(
  Object.entries(CONDITIONS).map(([name, find]: [string, Condition]) => [
    name,
    async (context: Context) => {
      const current = await find(context, context.clock.now());
      await syncAlerts(context, name as AlertKind, await dropExplained(context, name as AlertKind, current));
    },
  ]),
);

/** Drops alerts that do not fire yet while an alert of their cause does: one cause pages once. */
async function dropExplained({ db }: Context, name: AlertKind, current: AlertOfKind[]): Promise<AlertOfKind[]> {
  const causes = CAUSES[name];
  if (!causes || current.length === 0) return current;
  const scopes = current.map(({ scope }) => `${name} ${scope}`);
  const rows = await db
    .selectFrom('alerts')
    .select('firing_scope')
    .where('firing_scope', 'in', [...causes, ...scopes])
    .execute();
  const firing = new Set(rows.map((row) => row.firing_scope));
  if (!causes.some((cause) => firing.has(cause))) return current;
  return current.filter(({ scope }) => firing.has(`${name} ${scope}`));
}

function before(now: Date, ms: number): Date {
  return new Date(now.getTime() - ms);
}

async function findInboxBehind({ db }: Context, now: Date): Promise<AlertOfKind[]> {
  const oldest = await findOldestUnverified(db, now);
  if (!oldest || oldest >= before(now, BEHIND_MS)) return [];
  const said = summarize('inbox_behind', { since: oldest.toISOString() });
  return [{ scope: 'inbox', severity: 'critical', ...said }];
}

async function findExpectedBehind({ db }: Context, now: Date): Promise<AlertOfKind[]> {
  const oldest = await findOldestUndecided(db, now);
  if (!oldest || oldest >= before(now, BEHIND_MS)) return [];
  const said = summarize('expected_behind', { since: oldest.toISOString() });
  return [{ scope: 'expected', severity: 'high', ...said }];
}

/** By what each process wrote with its last heartbeats. */
async function findWrongClocks({ db }: Context, now: Date): Promise<AlertOfKind[]> {
  const processes = await readProcesses(db, before(now, CLOCK_SEEN_MS_MAX));
  const wrong = processes.filter(({ aheadMs }) => Math.abs(aheadMs ?? 0) > CLOCK_MS_MAX);
  const byHost = new Map(wrong.map(({ host, aheadMs }) => [host, Math.round(Number(aheadMs) / 1000)]));
  if (byHost.size === 0) return [];
  const clocks = [...byHost].map(([host, seconds]) => ({ host, seconds }));
  return [{ scope: 'clocks', severity: 'high', ...summarize('clock_differs', { clocks }) }];
}

/** Merchants that fail have an alert of their own. */
async function findCallbacksBehind({ db }: Context, now: Date): Promise<AlertOfKind[]> {
  const dueBefore = before(now, BEHIND_MS);
  const behind = (await readWaitingMerchants(db)).filter(({ oldestDueAt }) => oldestDueAt < dueBefore);
  const [oldest] = behind.toSorted((a, b) => a.oldestDueAt.getTime() - b.oldestDueAt.getTime());
  if (!oldest) return [];
  const { count } = await db
    .selectFrom('callbacks')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('state', '=', 'pending')
    .where('next_attempt_at', '<', dueBefore)
    .where(
      'merchant_seq',
      'in',
      behind.map(({ seq }) => seq),
    )
    .executeTakeFirstOrThrow();
  const said = summarize('callbacks_behind', { count: Number(count), since: oldest.oldestDueAt.toISOString() });
  return [{ scope: 'callbacks', severity: 'critical', ...said }];
}

async function findFailedCallbacks({ db }: Context, now: Date): Promise<AlertOfKind[]> {
  const rows = await db
    .selectFrom('callbacks')
    .innerJoin('merchants', 'merchants.seq', 'callbacks.merchant_seq')
    .innerJoin('callback_attempts', (join) =>
      join
        .onRef('callback_attempts.callback_seq', '=', 'callbacks.seq')
        .onRef('callback_attempts.number', '=', 'callbacks.attempts'),
    )
    .select(['merchants.id', 'merchants.name', (eb) => eb.fn.countAll<number>().as('count')])
    .where('callbacks.state', '=', 'failed')
    .where(IS_NO_FAILED_TEST)
    .where('callbacks.created_at', '>', before(now, FAILED_CREATED_MS_MAX))
    .where('callback_attempts.started_at', '>', before(now, FAILED_MS))
    .where('merchants.deleted_at', 'is', null)
    .groupBy(['merchants.id', 'merchants.name'])
    .execute();
  return rows.map(({ id, name, count }) => ({
    scope: id,
    severity: 'high',
    ...summarize('callback_failed', { merchant: id, merchantName: maskText(name), count: Number(count) }),
  }));
}

/** As this process sees them. */
async function findTwoWriters({ hosts }: Context): Promise<AlertOfKind[]> {
  const rivals = [...hosts.rivals];
  if (rivals.length === 0) return [];
  return [
    {
      scope: 'database',
      severity: 'critical',
      ...summarize('two_writers', { hosts: [hosts.current ?? '', ...rivals] }),
    },
  ];
}

/** Only while runs are made: without them a job is overdue, or the worker is dead. */
async function findNoCompleteRun({ db, calendar }: Context, now: Date): Promise<AlertOfKind[]> {
  const today = calendar.dayOf(now);
  const windows = await db
    .selectFrom('run_windows')
    .select(['run_seq', 'from_day', 'to_day', 'asked_at'])
    .where('state', 'in', ['complete', 'recent'])
    .where('platform', 'is', null)
    .where('to_day', '>=', addDays(today, -1))
    .orderBy('seq', 'desc')
    .limit(WINDOWS_MAX)
    .execute();
  const last = windows.find(({ from_day, to_day, asked_at }) => {
    const day = asked_at && calendar.dayOf(asked_at);
    return day !== null && from_day <= day && day <= to_day;
  });
  const since = last?.asked_at ?? new Date(0);
  const run = await db
    .selectFrom('runs')
    .select((eb) => eb.fn.min('created_at').as('at'))
    // later runs have higher numbers: the key ends the search, which else read the runs of years each minute
    .where('seq', '>', last?.run_seq ?? 0)
    .where('trigger', '=', 'reconcile_recent')
    .where('created_at', '>', since)
    .executeTakeFirst();
  if (!run?.at || new Date(run.at) >= before(now, NO_COMPLETE_RUN_MS)) return [];
  const said = summarize('no_complete_run', { since: new Date(run.at).toISOString() });
  return [{ scope: 'today', severity: 'critical', ...said }];
}

/** Days that a tick of the daily report should have reported. */
async function findMissingReports({ db, calendar }: Context, now: Date): Promise<AlertOfKind[]> {
  const ticks = await db
    .selectFrom('job_ticks')
    .select((eb) => [eb.fn.min('due_at').as('first'), eb.fn.max('due_at').as('last')])
    .where('job', '=', 'daily_report')
    .where('due_at', '<=', before(now, REPORT_LATE_MS))
    .executeTakeFirst();
  if (!ticks?.first || !ticks.last) return [];
  const dayBefore = (at: Date | string) => addDays(calendar.dayOf(new Date(at)), -1);
  const days = listDays(dayBefore(ticks.first), dayBefore(ticks.last)).slice(-REPORT_DAYS_MAX);
  const made = await db
    .selectFrom('reports')
    .select('day')
    .distinct()
    .where('day', 'in', days)
    .where('state', '!=', 'partial')
    .execute();
  const missing = days.filter((day) => made.every((report) => report.day !== day));
  if (missing.length === 0) return [];
  return [{ scope: 'reports', severity: 'high', ...summarize('report_missing', { days: missing }) }];
}

async function findWaitingRestore({ db }: Context): Promise<AlertOfKind[]> {
  const restore = await findUnconfirmedRestore(db);
  if (!restore) return [];
  const { count } = await db
    .selectFrom('callbacks')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('state', 'in', ['pending', 'held'])
    .executeTakeFirstOrThrow();
  const said = summarize('restore_unconfirmed', { count: Number(count), since: restore.restored_at.toISOString() });
  return [{ scope: 'callbacks', severity: 'high', ...said }];
}

/** One lost webhook pages nobody: its change was applied. Many of them say that the provider no longer reaches Confere. */
async function findWebhookLoss(context: Context, now: Date): Promise<AlertOfKind[]> {
  // by the hour: the text of a firing alert changes with its numbers alone
  const since = new Date(Math.floor(before(now, LOSS_MS).getTime() / HOUR_MS) * HOUR_MS);
  const { lost, total } = await readRecentLoss(context, since);
  const percent = total === 0 ? 0 : Math.floor((lost * 100) / total);
  if (total < LOSS_CHANGES_MIN || lost * 100 <= total * LOSS_PERCENT_MAX) return [];
  const said = summarize('webhook_loss_rate', { count: lost, total, percent, since: since.toISOString() });
  return [{ scope: 'webhooks', severity: 'high', ...said }];
}
