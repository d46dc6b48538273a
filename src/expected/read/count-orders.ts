import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import type { Day } from '../../domain/calendar.ts';
import type { Operation } from '../../domain/statuses.ts';
import { EXPECTED_STATES, type ExpectedState } from '../decide/decide-state.ts';
import { sumExpected } from './filter-expected.ts';

/** `undecided`: with candidates that nobody undid, about which a person may decide. */
export type OrderCounts = { paid: number; unpaid: number; undecided: number };
/** How many expected payments are in each state that one of them is in, and their amounts by operation: these make no sum. */
export type StateCounts = { state: ExpectedState; count: number; cents: { operation: Operation; cents: bigint }[] }[];

type Reading = Pick<Context, 'db' | 'clock' | 'calendar' | 'keys'>;

/** Counts the expected payments that are due in these days, both included. */
export async function countOrders(context: Reading, days: { from: Day; to: Day }): Promise<OrderCounts> {
  const { states, undecided } = await countStates(context, days);
  const count = (state: ExpectedState): number => states.find((one) => one.state === state)?.count ?? 0;
  return { paid: count('paid'), unpaid: count('unpaid'), undecided };
}

/** Counts each expected payment that is due in these days once, by its state; and those that a person may decide. */
export async function countStates(
  context: Reading,
  { from, to }: { from: Day; to: Day },
): Promise<{ states: StateCounts; undecided: number }> {
  const due = { due_from: from, due_to: to };
  const sums = await sumExpected(context, due);
  const undecided = await sumExpected(context, { ...due, undecided: true });
  const count = (rows: typeof sums): number => rows.reduce((sum, one) => sum + one.count, 0);
  const states = EXPECTED_STATES.map((state) => {
    const own = sums.filter((one) => one.state === state);
    return {
      state,
      count: count(own),
      cents: own.map(({ operation, amountCents }) => ({ operation, cents: amountCents })),
    };
  });
  return { states: states.filter((one) => one.count > 0), undecided: count(undecided) };
}

/** Whether anybody expects payments. */
export async function usesOrders(db: Reader): Promise<boolean> {
  return (await db.selectFrom('expected_payments').select('seq').limit(1).executeTakeFirst()) !== undefined;
}
