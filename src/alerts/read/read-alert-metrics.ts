import type { Context } from '../../context.ts';
import { SEVERITIES } from '../../domain/mismatch.ts';
import { byLabel, type Reading } from '../../metrics/reading.ts';
import { countFiring } from './read-alerts.ts';

/** Alerts that fire. */
export async function readAlertMetrics({ db }: Context): Promise<Reading[]> {
  return [
    {
      name: 'confere_alerts_firing',
      help: 'Alerts that fire, by severity.',
      values: byLabel('severity', SEVERITIES, await countFiring(db)),
    },
  ];
}
