import type { RangeDay } from '../plan/report-plan.ts';
import type { RANGE_LINES, TotalsUntil } from './create-tally.ts';
import type { DayEnd } from './read-day-ends.ts';

const COLUMNS = [
  'opening',
  'receipts',
  'commissions',
  'payments',
  'refundsMade',
  'refundsReceived',
  'adjustments',
  'closing',
  'held',
] as const;

/** A day of a range over all platforms, in cents. */
export type DayRow = RangeDay &
  Record<(typeof COLUMNS)[number], bigint> & {
    /** Opening balances that people stated for the start of this day, if it is not the first: part of `opening`. */
    opened: bigint;
    /** The closing balance less the ledger's own sum at that moment: 0. */
    difference: bigint;
  };

/**
 * Splits the totals up to each day into those of each day. Pure.
 * @param ends by the ledger's own sums, one for each day.
 */
export function listDayRows(days: RangeDay[], until: TotalsUntil[], ends: DayEnd[]): DayRow[] {
  return days.map((day, index) => {
    const [totals, before, end] = [until[index]?.totals, until[index - 1]?.totals, ends[index]];
    if (!totals || !end) throw new Error(`no totals of ${day.day}`);
    const of = (name: (typeof RANGE_LINES)[number]): bigint => totals[name] - (before?.[name] ?? 0n);
    return {
      ...day,
      opening: (before?.closing ?? totals.opening) + of('openings'),
      receipts: of('receipts'),
      commissions: of('commissionIn') + of('commissionOut'),
      payments: of('payments'),
      refundsMade: of('refundsMade'),
      refundsReceived: of('refundsReceived'),
      adjustments: of('adjustments'),
      closing: totals.closing,
      held: end.held,
      opened: of('openings'),
      difference: totals.closing - end.closing,
    };
  });
}
