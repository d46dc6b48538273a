import type { Context } from '../context.ts';
import type { Day } from '../domain/calendar.ts';
import { sumExpected } from './list-expected.ts';

/** `undecided`: with candidates, about which a person may decide. */
export type OrderCounts = { paid: number; unpaid: number; undecided: number };

/** Counts the expected payments that are due in these days, both included. */
export async function countOrders(
  context: Pick<Context, 'db' | 'clock' | 'calendar' | 'keys'>,
  { from, to }: { from: Day; to: Day },
): Promise<OrderCounts> {
  const due = { due_from: from, due_to: to };
  const sums = await sumExpected(context, due);
  const undecided = await sumExpected(context, { ...due, undecided: true });
  const count = (state: string): number => sums.find((one) => one.state === state)?.count ?? 0;
  return {
    ...{ paid: count('paid'), unpaid: count('unpaid') },
    undecided: undecided.reduce((sum, one) => sum + one.count, 0),
  };
}
