import type { Log } from '../log.ts';
import type { Channel } from './channel.ts';

const BATCH_MAX = 500;

/** A line for each alert, and one for its end. The line comes before the row that says so: twice is better than never. */
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
