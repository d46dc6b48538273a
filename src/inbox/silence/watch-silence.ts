import { endAlerts, raiseAlerts } from '../../alerts/raise-alerts.ts';
import type { Context } from '../../context.ts';
import { readSetting } from '../../database/keys/settings.ts';
import { transact } from '../../database/transact.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { type Reading, secondsSince } from '../../metrics/reading.ts';
import { summarize } from '../../texts/alerts/describe-alert.ts';
import { detectSilence, findDownGaps, type ReceiverMinute, type Silence } from './detect-silence.ts';
import { findLastArrival } from './record-minutes.ts';

const ALERT = { name: 'inbound_silence', scope: 'receiver' } as const;
/** Stored: until when gaps were searched, and since when days wait for a run that could not start yet. */
const SETTING = 'gaps_swept';
type Swept = { until: Date; pendingSince: Date | undefined };
/** Refunds come up to 95 days after a payment; older days do not change any more. */
const SWEEP_DAYS_MAX = 95;

/** Stored for the metrics: deriving it takes the minutes of three weeks. */
const LIMIT_SETTING = 'silence_limit_ms';

/** Starts a run over these days. @returns false if it can't start now: the next watch tries again. */
export type ReconcileDays = (days: { from: Day; to: Day }) => Promise<boolean>;

/**
 * Raises an alert while no webhooks arrive, and ends it with the next webhook. Starts a run over the days in which webhooks
 * may have been missed: when a receiver is back after an outage, when a silence starts, and when it ends.
 */
export async function watchSilence(context: Context, reconcile: ReconcileDays): Promise<void> {
  const now = context.clock.now();
  const minutes = await readReceiverMinutes(context);
  const silence = detectSilence(minutes, await findLastArrival(context), now);
  await writeSetting(context, LIMIT_SETTING, String(silence.limitMs ?? 0));
  const alertedAt = await readAlertedAt(context);
  const swept = await readSwept(context);
  const missed = [
    ...(swept.pendingSince ? [swept.pendingSince] : []),
    ...findDownGaps(minutes, swept.until).map((gap) => gap.from),
    ...missedBySilence(silence, minutes, alertedAt),
  ].sort((a, b) => a.getTime() - b.getTime());
  const [pendingSince] = missed;
  // store the pending run before the alert ends, or a crash in between would lose it
  if (pendingSince) await writeSwept(context, { until: now, pendingSince });
  await updateAlert(context, silence, alertedAt !== undefined, now);
  if (pendingSince && (await reconcile(daysOf(context, pendingSince, now))))
    await writeSwept(context, { until: now, pendingSince: undefined });
}

/** How long no webhook has arrived, and how long is usual. */
export async function readSilenceMetrics(context: Context): Promise<Reading[]> {
  const since = await findLastArrival(context);
  const limitMs = Number((await readSetting(context.db, LIMIT_SETTING))?.toString() ?? 0);
  return [
    {
      name: 'confere_last_webhook_timestamp_seconds',
      help: 'Arrival of the newest webhook; 0 before the first.',
      values: (since?.getTime() ?? 0) / 1000,
    },
    {
      name: 'confere_inbound_silence_seconds',
      help: 'Time since the newest webhook; 0 before the first.',
      values: secondsSince(since, context.clock.now()),
    },
    {
      name: 'confere_inbound_silence_limit_seconds',
      help: 'Usual limit of that time, as of the last watch; beyond it an alert fires. 0 while too little is known.',
      values: limitMs / 1000,
    },
  ];
}

/** Start of the run: at the start of a silence its last arrival; at its end the last arrival before the alert. */
function missedBySilence(silence: Silence, minutes: ReceiverMinute[], alertedAt: Date | undefined): Date[] {
  const { state, since } = silence;
  if (state === 'quiet' && since && !alertedAt) return [since];
  if (state !== 'well' || !alertedAt) return [];
  const before = minutes.findLast((minute) => minute.lastArrivalAt !== null && minute.lastArrivalAt <= alertedAt);
  return [before?.lastArrivalAt ?? alertedAt];
}

function daysOf(context: Context, from: Date, to: Date): { from: Day; to: Day } {
  const today = context.calendar.dayOf(to);
  const first = context.calendar.dayOf(from);
  const oldest = addDays(today, -SWEEP_DAYS_MAX);
  if (first < oldest) return { from: oldest, to: today };
  return { from: first, to: today };
}

async function updateAlert(context: Context, silence: Silence, firing: boolean, now: Date): Promise<void> {
  if (firing === (silence.state !== 'well')) return;
  // receivers could not write their minutes, and write the next one soon
  if (!firing && !context.writes.isSettled()) return;
  await transact(
    context.db,
    async (trx) => {
      if (firing) await endAlerts(trx, [ALERT], now);
      else await raiseAlerts(trx, [{ ...ALERT, severity: 'high', ...describe(silence) }], now);
    },
    { retryDuplicates: true },
  );
  context.wakeUps.alerts.notify();
}

/** Without `since`, no receiver is alive. */
function describe({ state, since, limitMs }: Silence) {
  const hours = Math.round((limitMs ?? 0) / 360_000) / 10;
  return summarize(ALERT.name, state === 'down' ? {} : { since: since?.toISOString(), hours });
}

async function readReceiverMinutes(context: Context): Promise<ReceiverMinute[]> {
  const rows = await context.db
    .selectFrom('receiver_minutes')
    .select(['minute', 'last_arrival_at'])
    .orderBy('minute')
    .execute();
  return rows.map((row) => ({ minute: row.minute, lastArrivalAt: row.last_arrival_at }));
}

/** @returns when the alert was raised; undefined if it does not fire. */
async function readAlertedAt(context: Context): Promise<Date | undefined> {
  const row = await context.db
    .selectFrom('alerts')
    .select('raised_at')
    .where('firing_scope', '=', `${ALERT.name} ${ALERT.scope}`)
    .executeTakeFirst();
  return row?.raised_at;
}

async function readSwept(context: Context): Promise<Swept> {
  const stored = await readSetting(context.db, SETTING);
  if (!stored) return { until: new Date(0), pendingSince: undefined };
  const { until, owedSince } = JSON.parse(stored.toString()) as { until: string; owedSince?: string };
  return { until: new Date(until), pendingSince: owedSince === undefined ? undefined : new Date(owedSince) };
}

async function writeSwept(context: Context, { until, pendingSince }: Swept): Promise<void> {
  await writeSetting(context, SETTING, JSON.stringify({ until, owedSince: pendingSince }));
}

async function writeSetting({ db }: Context, name: string, text: string): Promise<void> {
  const value = Buffer.from(text);
  await db.insertInto('settings').values({ name, value }).onDuplicateKeyUpdate({ value }).execute();
}
