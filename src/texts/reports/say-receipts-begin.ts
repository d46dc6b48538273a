import type { Day } from '../../domain/calendar.ts';
import { fill } from '../fill.ts';
import { formatDay, type Texts } from './texts.ts';

/** Says from which day on a receipt without an order is listed. @param days the first of each platform; none: nothing is said. */
export function sayReceiptsBegin(days: readonly Day[], { orders }: Texts): string {
  const [first, last] = [days.toSorted()[0], days.toSorted().at(-1)];
  if (first === undefined || last === undefined) return '';
  return fill(first === last ? orders.since : orders.sinceEach, { first: formatDay(first), last: formatDay(last) });
}
