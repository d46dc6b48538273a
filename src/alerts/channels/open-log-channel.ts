import type { Log } from '../../log.ts';
import type { Channel } from './channel.ts';

const BATCH_MAX = 500;

/** Logs each alert and its end. The line is written before the row that records it: a repeat is better than a loss. */
export function openLogChannel(log: Log): Channel {
  return {
    name: 'log',
    batchMax: BATCH_MAX,
    async send(alerts) {
      for (const alert of alerts) {
        const about = { alert: alert.name, severity: alert.severity, mismatch: alert.mismatchId };
        if (alert.alreadySent) log.info({ ...about, alert: undefined, over: alert.name }, alert.summary);
        else log[alert.severity === 'medium' ? 'warn' : 'error'](about, alert.summary);
      }
    },
  };
}
