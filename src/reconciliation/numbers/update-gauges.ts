import type { Context } from '../../context.ts';
import { addDays } from '../../domain/calendar.ts';
import { daysUnproven, oldestUnprovenDays, webhookLatenessSeconds, webhookLossRatio } from '../../metrics/metrics.ts';
import { readCoverage } from './read-coverage.ts';
import { lossRate, readWebhookDays } from './read-webhook-days.ts';

/** Sets the gauges of proven days, and of how the provider announced the changes of today and yesterday. */
export async function updateGauges(context: Context): Promise<void> {
  const coverage = await readCoverage(context);
  daysUnproven.set(coverage.days - coverage.proven);
  oldestUnprovenDays.set(coverage.oldestUnprovenAgeDays);
  const today = context.calendar.dayOf(context.clock.now());
  const days = await readWebhookDays(context, { from: addDays(today, -1), to: today });
  for (const [index, day] of days.entries()) {
    const label = { day: index === 0 ? 'yesterday' : 'today' };
    webhookLossRatio.set(label, Number(lossRate(day) ?? 0));
    webhookLatenessSeconds.set({ ...label, quantile: '0.5' }, day.lateS?.p50 ?? 0);
    webhookLatenessSeconds.set({ ...label, quantile: '0.95' }, day.lateS?.p95 ?? 0);
  }
}
