import { type Decided, type Pair, pairOf } from './decide-matches.ts';
import { counts, type PaymentFacts } from './facts.ts';

/** Returns why a match that a rule made stands no more, as a stable name. Pure. */
export function explainWithdrawal(
  pair: Pair,
  now: { payments: ReadonlyMap<number, { facts: PaymentFacts }>; decided: Decided },
): string {
  const payment = now.payments.get(pair.paymentSeq)?.facts;
  if (!payment || !counts(payment)) return 'not_paid';
  if (now.decided.matches.some((one) => pairOf(one) === pairOf(pair))) return 'matched_anew';
  if (now.decided.matches.some(({ paymentSeq }) => paymentSeq === pair.paymentSeq)) return 'matched_elsewhere';
  return now.decided.candidates.some((one) => pairOf(one) === pairOf(pair)) ? 'not_unique' : 'facts_changed';
}
