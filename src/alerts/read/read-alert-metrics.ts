import type { Context } from '../../context.ts';
import { SEVERITIES } from '../../domain/mismatch.ts';
import { byLabel, type Reading } from '../../metrics/reading.ts';

/** Alerts that fire. */
export async function readAlertMetrics({ db }: Context): Promise<Reading[]> {
  const firing = await db
    .selectFrom('alerts')
    .select(['severity', (eb) => eb.fn.countAll<number>().as('count')])
    .where('firing_scope', 'is not', null)
    .groupBy('severity')
    .execute();
  return [
    {
      name: 'confere_alerts_firing',
      help: 'Alerts that fire, by severity.',
      values: byLabel('severity', SEVERITIES, new Map(firing.map((row) => [row.severity, Number(row.count)]))),
    },
  ];
}
