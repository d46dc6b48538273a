import type { Context } from '../context.ts';
import type { Day } from '../domain/calendar.ts';
import type { ExpectedState } from './decide/decide-state.ts';
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
  const count = (rows: typeof sums): number => rows.reduce((sum, one) => sum + one.count, 0);
  const ofState = (state: ExpectedState): number => count(sums.filter((one) => one.state === state));
  return { paid: ofState('paid'), unpaid: ofState('unpaid'), undecided: count(undecided) };
}
