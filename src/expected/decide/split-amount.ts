import type { ExpectedState } from './decide-state.ts';

/** States in which something of an order is owed; it is overdue once its due day is over. */
export const OWED: readonly string[] = ['open', 'unpaid', 'not_proven', 'underpaid'] satisfies ExpectedState[];
const NEVER_OWED: readonly string[] = ['cancelled', 'paid_after_cancel'] satisfies ExpectedState[];

/**
 * Splits the amount of an order, or the sums of orders of one state, in cents: amount = settled − surplus + owed + notOwed.
 * `notOwed`: what is no longer owed of one that was refunded or cancelled. Pure.
 */
export function splitAmount({
  state,
  amountCents,
  settledCents,
}: {
  state: string;
  amountCents: bigint;
  settledCents: bigint;
}) {
  const leftCents = amountCents - settledCents;
  const owedCents = OWED.includes(state) ? leftCents : 0n;
  const surplusCents = NEVER_OWED.includes(state) ? settledCents : leftCents < 0n ? -leftCents : 0n;
  return { owedCents, surplusCents, notOwedCents: leftCents + surplusCents - owedCents };
}
