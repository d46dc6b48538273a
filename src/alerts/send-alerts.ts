/**
 * Sends the outbox of alerts. A new alert is fanned out once to every configured channel. Each channel has its own worker
 * loop, so that one that is down delays no other. A due send (`alert_sends.next_attempt_at`) is leased, sent, and recorded
 * after that: so each alert is sent at least once, and once more when it has ended. A channel that fails is retried after a
 * pause that grows to a minute, without end: an alert is never dropped.
 */
import type { Context } from '../context.ts';
import { describeError } from '../log.ts';
import { alertSends } from '../metrics/metrics.ts';
import { createHeartbeat } from '../runtime/heartbeat.ts';
import { createWakeSignal, runWorkerLoop, type WakeSignal } from '../runtime/wake-signal.ts';
import { backoffMs } from '../timers.ts';
import { type AlertToSend, type Channel, ChannelError } from './channels/channel.ts';
import { claimSends, selectDueSends } from './claim-sends.ts';
import { fanOutAlerts, fanOutFiringAlerts } from './fan-out-alerts.ts';
import { recordSendFailure, recordSent } from './record-sends.ts';

const IDLE_MS = 5_000;
const PAUSE_MS = 2_000;
/** Below the five minutes after which Alertmanager forgets an alert that is not sent again. */
const PAUSE_MS_MAX = 60_000;

/**
 * Sends alerts until the signal.
 * @param isNeeded set for a web process: it sends while this returns true, that is, while no worker does. A web process may
 *   lack the settings of a channel, and what it fans out does not reach that channel before a worker is back.
 */
export async function sendAlerts(context: Context, channels: Channel[], isNeeded?: () => boolean): Promise<void> {
  const workers = channels.map((channel) => ({ channel, wakeUp: createWakeSignal(context.timers) }));
  const isAnyNew = () => [context.db.selectFrom('alerts').select('seq').where('spread_at', 'is', null)];
  let caughtUp = false;
  const fanOut = runWorkerLoop({
    ...{ name: 'alerts', wakeUp: context.wakeUps.alerts, idleMs: IDLE_MS, context },
    ...(isNeeded ? {} : { heartbeat: createHeartbeat(context, 'alerts') }),
    hasWork: async () => isNeeded?.() !== false && (!caughtUp || (await context.poll(isAnyNew))),
    async work() {
      if (isNeeded?.() === false) return false;
      if (!caughtUp) await fanOutFiringAlerts(context, channels);
      caughtUp = true;
      const more = await fanOutAlerts(context, channels);
      for (const { wakeUp } of workers) wakeUp.notify();
      return more;
    },
  });
  const senders = workers.map(({ channel, wakeUp }) => sendToChannel(context, channel, wakeUp, isNeeded));
  await Promise.all([fanOut, ...senders]);
}

async function sendToChannel(
  context: Context,
  channel: Channel,
  wakeUp: WakeSignal,
  isNeeded?: () => boolean,
): Promise<void> {
  let failures = 0;
  let pausedUntilMs = 0;
  const mayWork = () => isNeeded?.() !== false && context.timers.monotonicMs() >= pausedUntilMs;
  await runWorkerLoop({
    ...{ name: `alerts to ${channel.name}`, wakeUp, idleMs: IDLE_MS, context },
    hasWork: async () =>
      mayWork() && (await context.poll(() => [selectDueSends(context.db, channel, context.clock.now())])),
    async work() {
      if (!mayWork()) return false;
      const alerts = await claimSends(context, channel);
      if (alerts.length === 0) return false;
      const pauseMs = await sendBatch(context, channel, alerts, failures);
      failures = pauseMs === undefined ? 0 : failures + 1;
      pausedUntilMs = context.timers.monotonicMs() + (pauseMs ?? 0);
      return true;
    },
  });
}

/** @returns how long to pause the channel; undefined if it accepted the alerts, or refused only these. */
async function sendBatch(
  context: Context,
  channel: Channel,
  alerts: AlertToSend[],
  failures: number,
): Promise<number | undefined> {
  try {
    await channel.send(alerts);
  } catch (error) {
    const { code, isRefusal, retryAfterMs } = toChannelError(error);
    // one alert that is refused must not block the others
    if (isRefusal && alerts.length > 1) {
      for (const alert of alerts) await sendBatch(context, channel, [alert], failures);
      return undefined;
    }
    const grownMs = backoffMs(failures + 1, { firstMs: PAUSE_MS, maxMs: PAUSE_MS_MAX });
    const pauseMs = isRefusal ? PAUSE_MS_MAX : Math.min(PAUSE_MS_MAX, Math.max(grownMs, retryAfterMs ?? 0));
    await recordSendFailure(context, channel, alerts, { pauseMs, error: code });
    alertSends.inc({ channel: channel.name, outcome: 'failed' }, alerts.length);
    const about = { channel: channel.name, alerts: alerts.length, error: describeError(error) };
    context.log.warn(about, 'a channel did not accept alerts; retrying');
    return isRefusal ? undefined : pauseMs;
  }
  await recordSent(context, channel, alerts);
  alertSends.inc({ channel: channel.name, outcome: 'sent' }, alerts.length);
  return undefined;
}

function toChannelError(error: unknown): ChannelError {
  if (error instanceof ChannelError) return error;
  const { code, name } = (error ?? {}) as { code?: unknown; name?: string };
  return new ChannelError(typeof code === 'string' ? code : (name ?? 'unknown'));
}
