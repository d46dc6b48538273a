/** The values of the console's charts, by day, or by hour of one day. Figures of webhooks are in `numbers`. */
import { z } from 'zod';
import { type AttemptSlot, sampleAttempts, sampleSizeOf } from '../../callbacks/manage/sample-attempts.ts';
import type { Context } from '../../context.ts';
import { addDays, type Day, listDays, listHours } from '../../domain/calendar.ts';
import { formatAmount } from '../../domain/money.ts';
import { checkDays, type MoneyPoint, readMoneySeries } from '../../ledger/read/read-money-series.ts';
import { refuseField } from '../../texts/refuse.ts';
import { listChoosablePlatforms } from '../choose-platform.ts';
import { defineItem } from '../define-item.ts';
import { day, platform } from '../fields.ts';
import * as rows from '../rows/series.ts';

const DAYS = 30;
const range = {
  day: day.optional().describe('this day, hour by hour; not together with from or to'),
  from: day.optional(),
  to: day.optional(),
};

export const moneySeries = defineItem({
  route: '/series/money',
  summary: 'What moved, and the balance, by day or hour',
  query: z.object({ ...range, platform: platform.optional() }),
  item: rows.moneySeries,
  async read(reading, { caller }, query) {
    if (query.platform !== undefined && !(await listChoosablePlatforms(reading, caller)).includes(query.platform))
      throw refuseField('platform', 'platform_never_booked');
    const asked = { ...readRange(reading, query), platform: query.platform };
    const points = await readMoneySeries(reading, asked);
    return { by: 'day' in asked ? 'hour' : 'day', points: points.map(presentMoney) };
  },
});

export const callbackSeries = defineItem({
  route: '/series/callbacks',
  summary: 'How merchants answer, of a sample',
  query: z.object(range),
  item: rows.callbackSeries,
  async read(reading, _by, query) {
    const asked = readRange(reading, query);
    const { starts, end } = listStarts(reading, asked);
    const slots = await sampleAttempts(reading.db, starts, end);
    return {
      by: 'day' in asked ? 'hour' : 'day',
      sample_max: sampleSizeOf(starts.length),
      points: slots.map(presentAttempts),
    };
  },
});

type Range = { day: Day } | { from: Day; to: Day };
type RangeQuery = { day?: string | undefined; from?: string | undefined; to?: string | undefined };

function readRange(context: Context, query: RangeQuery): Range {
  if (query.day !== undefined) {
    if (query.from !== undefined || query.to !== undefined) throw refuseField('day', 'parameter_and_range');
    return { day: query.day };
  }
  const to = query.to ?? context.calendar.dayOf(context.clock.now());
  const from = query.from ?? addDays(to, 1 - DAYS);
  checkDays(from, to);
  return { from, to };
}

/** The instants at which the days begin, or the hours of a day. */
function listStarts({ calendar }: Context, asked: Range): { starts: Date[]; end: Date } {
  const starts =
    'day' in asked
      ? listHours(calendar, asked.day)
      : listDays(asked.from, asked.to).map((one) => calendar.startOfDay(one));
  return { starts, end: calendar.endOfDay('day' in asked ? asked.day : asked.to) };
}

function presentMoney({ span, sums }: MoneyPoint) {
  return {
    at: span,
    receipts: sums ? formatAmount(sums.receipts) : null,
    payments: sums ? formatAmount(sums.payments) : null,
    commissions: sums ? formatAmount(sums.commissions) : null,
    refunds_made: sums ? formatAmount(sums.refundsMade) : null,
    refunds_received: sums ? formatAmount(sums.refundsReceived) : null,
    net: sums ? formatAmount(sums.net) : null,
    balance: sums ? formatAmount(sums.balance) : null,
  };
}

function presentAttempts({ start, attempts, delivered, p50, p95 }: AttemptSlot) {
  return { start: start.toISOString(), attempts, delivered, p50_ms: p50 ?? null, p95_ms: p95 ?? null };
}
