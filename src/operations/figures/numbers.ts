/** Figures for operations. */
import { z } from 'zod';
import { addDays } from '../../domain/calendar.ts';
import { formatAmount } from '../../domain/money.ts';
import { readOpenMismatches } from '../../mismatches/read-open-mismatches.ts';
import { readWebhookDays } from '../../reconciliation/numbers/count-webhook-days.ts';
import { COVERED_DAYS, readCoverage } from '../../reconciliation/numbers/read-coverage.ts';
import { lossRate } from '../../reconciliation/numbers/read-webhook-days.ts';
import { refuseField } from '../../texts/refuse.ts';
import { defineItem } from '../define-item.ts';
import { day } from '../fields.ts';
import { numbers as numbersRow } from '../rows/reconciliation.ts';

const DEFAULT_DAYS = 14;

export const numbers = defineItem({
  route: '/numbers',
  summary: 'How webhooks come, by day of the change; which days are proven; what is at stake',
  query: z.object({ from: day.optional(), to: day.optional() }),
  item: numbersRow,
  async read(reading, _by, query) {
    const to = query.to ?? reading.calendar.dayOf(reading.clock.now());
    const from = query.from ?? addDays(to, 1 - DEFAULT_DAYS);
    checkRange(from, to);
    const [webhooks, coverage, mismatches] = await Promise.all([
      readWebhookDays(reading, { from, to }),
      readCoverage(reading),
      readOpenMismatches(reading.db),
    ]);
    return {
      from,
      to,
      webhooks: webhooks.map((one) => ({
        day: one.day,
        announced: one.announced,
        lost: one.lost,
        waiting: one.waiting,
        loss_rate: lossRate(one),
        late_p50_s: one.lateS?.p50 ?? null,
        late_p95_s: one.lateS?.p95 ?? null,
        late_max_s: one.lateS?.max ?? null,
      })),
      coverage: {
        from: coverage.from,
        to: coverage.to,
        days: coverage.days,
        proven: coverage.proven,
        oldest_unproven: coverage.oldestUnproven,
        oldest_unproven_age_days: coverage.oldestUnprovenAgeDays,
      },
      mismatches: mismatches.map((one) => ({
        kind: one.kind,
        severity: one.severity,
        unresolved: one.count,
        acknowledged: one.acknowledged,
        at_stake: formatAmount(one.stakeCents),
      })),
    };
  },
});

function checkRange(from: string, to: string): void {
  if (from > to) throw refuseField('from', 'days_reversed');
  if (addDays(from, COVERED_DAYS) < to) throw refuseField('from', 'days_too_many', { n: COVERED_DAYS });
}
