import { endAlerts, raiseAlerts } from '../../alerts/raise-alerts.ts';
import type { Context } from '../../context.ts';
import { readSetting } from '../../database/keys/settings.ts';
import { transact } from '../../database/transact.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { inboundSilenceLimitSeconds, inboundSilenceSeconds } from '../../metrics/metrics.ts';
import { detectSilence, findDownGaps, type Heartbeat, type Silence } from './detect-silence.ts';
import { findLastArrival } from './record-heartbeat.ts';

const ALERT = { name: 'inbound_silence', scope: 'receiver' } as const;
/** Up to when gaps were looked for, and since when days are owed a sweep that could not be started yet. */
const SETTING = 'gaps_swept';
type Swept = { until: Date; owedSince: Date | undefined };
/** Refunds come up to so many days later; older days change no more. */
const SWEEP_DAYS_MAX = 95;

/** Has the list of these days read. @returns false when it can't now: it is asked again the next time. */
export type ReconcileDays = (days: { from: Day; to: Day }) => Promise<boolean>;

/**
 * Tells ops that nothing comes in, ends that with the next webhook, and has the days swept in which webhooks may have
 * been missed: when a receiver is back that was down, when a silence begins, and when it is over.
 */
export async function watchSilence(context: Context, sweep: ReconcileDays): Promise<void> {
  const now = context.clock.now();
  const beats = await readBeats(context);
  const silence = detectSilence(beats, await findLastArrival(context), now);
  inboundSilenceSeconds.set(silence.since ? (now.getTime() - silence.since.getTime()) / 1000 : 0);
  inboundSilenceLimitSeconds.set((silence.limitMs ?? 0) / 1000);
  const alertedAt = await readAlertedAt(context);
  const swept = await readSwept(context);
  const missed = [
    ...(swept.owedSince ? [swept.owedSince] : []),
    ...findDownGaps(beats, swept.until).map((gap) => gap.from),
    ...missedBySilence(silence, beats, alertedAt),
  ].sort((a, b) => a.getTime() - b.getTime());
  const [owedSince] = missed;
  // what is owed is written down before the alert ends that tells of it
  if (owedSince) await writeSwept(context, { until: now, owedSince });
  await tell(context, silence, alertedAt !== undefined, now);
  if (owedSince && (await sweep(daysOf(context, owedSince, now))))
    await writeSwept(context, { until: now, owedSince: undefined });
}

/** Since when to look: at the start of a silence its last arrival; at its end the last one before it was told. */
function missedBySilence(silence: Silence, beats: Heartbeat[], alertedAt: Date | undefined): Date[] {
  const { state, since } = silence;
  if (state === 'quiet' && since && !alertedAt) return [since];
  if (state !== 'well' || !alertedAt) return [];
  const before = beats.findLast((beat) => beat.lastArrivalAt !== null && beat.lastArrivalAt <= alertedAt);
  return [before?.lastArrivalAt ?? alertedAt];
}

function daysOf(context: Context, from: Date, to: Date): { from: Day; to: Day } {
  const today = context.calendar.dayOf(to);
  const first = context.calendar.dayOf(from);
  const oldest = addDays(today, -SWEEP_DAYS_MAX);
  if (first < oldest) return { from: oldest, to: today };
  return { from: first, to: today };
}

async function tell(context: Context, silence: Silence, firing: boolean, now: Date): Promise<void> {
  if (firing === (silence.state !== 'well')) return;
  await transact(
    context.db,
    async (trx) => {
      if (firing) await endAlerts(trx, [ALERT], now);
      else await raiseAlerts(trx, [{ ...ALERT, severity: 'high', summary: describe(silence) }], now);
    },
    { retryDuplicates: true },
  );
  context.wakeUps.alerts.notify();
}

function describe({ state, since, limitMs }: Silence): string {
  if (state === 'down') return 'no receiver is alive: webhooks are not taken in; start serve --web';
  const hours = Math.round((limitMs ?? 0) / 360_000) / 10;
  return `no webhook came since ${since?.toISOString()}, longer than the usual ${hours} h: does the provider still send?`;
}

async function readBeats(context: Context): Promise<Heartbeat[]> {
  const rows = await context.db
    .selectFrom('receiver_minutes')
    .select(['minute', 'last_arrival_at'])
    .orderBy('minute')
    .execute();
  return rows.map((row) => ({ minute: row.minute, lastArrivalAt: row.last_arrival_at }));
}

/** While it fires. */
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
  if (!stored) return { until: new Date(0), owedSince: undefined };
  const { until, owedSince } = JSON.parse(stored.toString()) as { until: string; owedSince?: string };
  return { until: new Date(until), owedSince: owedSince === undefined ? undefined : new Date(owedSince) };
}

async function writeSwept(context: Context, swept: Swept): Promise<void> {
  const value = Buffer.from(JSON.stringify(swept));
  await context.db.insertInto('settings').values({ name: SETTING, value }).onDuplicateKeyUpdate({ value }).execute();
}
