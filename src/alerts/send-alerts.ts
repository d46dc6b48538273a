/**
 * Hands the outbox of alerts on. A new alert is spread once to every channel that is set; each channel is a loop of its
 * own, so that one that is away delays no other. What it takes is due on it (`alert_sends.next_attempt_at`), is leased,
 * told, and written down after that: so each is told at least once, and once more when it has ended. A channel that is
 * away is tried again after a pause that grows to a minute, without end: an alert is never given up.
 */
import type { Context } from '../context.ts';
import { describeError } from '../log.ts';
import { alertSends } from '../metrics/metrics.ts';
import { createWakeSignal, runWorkerLoop, type WakeSignal } from '../runtime/wake-signal.ts';
import { type AlertToSend, type Channel, ChannelError } from './channel.ts';
import { claimSends } from './claim-sends.ts';
import { fanOutAlerts, fanOutFiringAlerts } from './fan-out-alerts.ts';
import { recordSendFailure, recordSent } from './record-sends.ts';

const IDLE_MS = 5_000;
const PAUSE_MS = 2_000;
/** Alertmanager forgets what it is not told again within five minutes. */
const PAUSE_MS_MAX = 60_000;

export async function sendAlerts(context: Context, channels: Channel[]): Promise<void> {
  const bells = new Map(channels.map((channel) => [channel.name, createWakeSignal(context.timers)]));
  let caughtUp = false;
  const spreading = runWorkerLoop({
    ...{ name: 'alerts', wakeUp: context.wakeUps.alerts, idleMs: IDLE_MS, context },
    async work() {
      if (!caughtUp) await fanOutFiringAlerts(context, channels);
      caughtUp = true;
      const more = await fanOutAlerts(context, channels);
      for (const bell of bells.values()) bell.notify();
      return more;
    },
  });
  const telling = channels.map((channel) =>
    tellChannel(context, channel, bells.get(channel.name) ?? createWakeSignal(context.timers)),
  );
  await Promise.all([spreading, ...telling]);
}

async function tellChannel(context: Context, channel: Channel, bell: WakeSignal): Promise<void> {
  let failures = 0;
  let pausedUntilMs = 0;
  await runWorkerLoop({
    ...{ name: `alerts to ${channel.name}`, wakeUp: bell, idleMs: IDLE_MS, context },
    async work() {
      if (context.timers.monotonicMs() < pausedUntilMs) return false;
      const alerts = await claimSends(context, channel);
      if (alerts.length === 0) return false;
      const pauseMs = await tell(context, channel, alerts, failures);
      failures = pauseMs === undefined ? 0 : failures + 1;
      pausedUntilMs = context.timers.monotonicMs() + (pauseMs ?? 0);
      return true;
    },
  });
}

/** @returns how long the channel is to be left alone; undefined where it took them, or refused just these. */
async function tell(
  context: Context,
  channel: Channel,
  alerts: AlertToSend[],
  failures: number,
): Promise<number | undefined> {
  try {
    await channel.send(alerts);
  } catch (error) {
    const { code, isRefusal, retryAfterMs } = toNotTaken(error);
    // one that is not fit to be sent must not keep the others from going
    if (isRefusal && alerts.length > 1) {
      for (const alert of alerts) await tell(context, channel, [alert], failures);
      return undefined;
    }
    const pauseMs = isRefusal ? PAUSE_MS_MAX : pauseAfter(failures, retryAfterMs);
    await recordSendFailure(context, channel, alerts, { pauseMs, error: code });
    alertSends.inc({ channel: channel.name, outcome: 'failed' }, alerts.length);
    const about = { channel: channel.name, alerts: alerts.length, error: describeError(error) };
    context.log.warn(about, 'a channel did not take alerts; they are sent again');
    return isRefusal ? undefined : pauseMs;
  }
  await recordSent(context, channel, alerts);
  alertSends.inc({ channel: channel.name, outcome: 'sent' }, alerts.length);
  return undefined;
}

function toNotTaken(error: unknown): ChannelError {
  if (error instanceof ChannelError) return error;
  const { code, name } = (error ?? {}) as { code?: unknown; name?: string };
  return new ChannelError(typeof code === 'string' ? code : (name ?? 'unknown'));
}

function pauseAfter(failures: number, retryAfterMs: number | undefined): number {
  const grown = PAUSE_MS * 2 ** Math.min(failures, 10);
  return Math.min(PAUSE_MS_MAX, Math.max(grown, retryAfterMs ?? 0));
}
