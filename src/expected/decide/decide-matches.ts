/**
 * Decides which payments are which expected payments. Pure: a function of the facts now, the same in any order of arrival, of
 * rows and of decisions before. It never breaks a tie: what is not unique is a candidate on both sides.
 *
 * The rules, each over what those before left:
 * 1. A person's match stands until a person undoes it. A payment with one is left to people: rules take whole payments.
 * 2. A key of the payment, its reference or e2e_id, also as the authorization code of an invoice: any amount, any day, several payments for one expected payment. Where the
 *    keys of a payment name several expected payments, the only one that is not cancelled, else none.
 * 3. The extra, in the window, where each side is the other's only one.
 * 4. Document and amount, in the window, likewise.
 *
 * An expected payment that a merchant sent takes part only in what is decided of payments that this merchant sees.
 * Cancelled expected payments take part in 1 and 2 only. A pair that a person undid is matched by no rule again and still counts as
 * a candidate. A pending payment is a candidate, and no rival. What one rule leaves undecided stays a candidate on both sides, also
 * where a later rule matches one of the two otherwise: no order that a payment names is plainly unpaid.
 */
import { addDays } from '../../domain/calendar.ts';
import { append, pairWithoutRival } from '../../domain/lists.ts';
import { counts, type ExpectedFacts, KEY_RULES, keysOf, NFE_SOURCE, type PaymentFacts, type Rule } from './facts.ts';

/** How long after its due day a payment is still found by rules 3 and 4. */
export const WINDOW_DAYS_AFTER_DUE = 30;
/** An invoice may be issued after it was paid. */
const NFE_DAYS_BEFORE_ISSUE = 10;

export type Pair = { expectedSeq: number; paymentSeq: number };
export type DecidedMatch = Pair & { rule: Exclude<Rule, 'person'> };
export type CandidateReason = 'not_unique' | 'undone' | 'pending';
export type DecidedCandidate = DecidedMatch & { reason: CandidateReason };
export type Decided = { matches: DecidedMatch[]; candidates: DecidedCandidate[] };

export type Facts = {
  expected: readonly ExpectedFacts[];
  payments: readonly PaymentFacts[];
  /** Pairs that a person matched, in whole or in part. */
  byPerson: readonly Pair[];
  /** Pairs that a person undid, as `pairOf` writes them. */
  undone: ReadonlySet<string>;
  /** Whether an expected payment may be a payment: one that a merchant sent only what that merchant sees. */
  sees: (pair: Pair) => boolean;
};

type Edge = { left: number; right: number; rule: DecidedMatch['rule'] };
/** Which of the rules above an edge is of. */
const RULE_NUMBERS: Record<Edge['rule'], number> = { reference: 2, e2e_id: 2, invoice: 2, extra: 3, document: 4 };

/** A pair as a key. */
export function pairOf({ expectedSeq, paymentSeq }: Pair): string {
  return `${expectedSeq} ${paymentSeq}`;
}

export function decideMatches(facts: Facts): Decided {
  const { expected, byPerson } = facts;
  const [takenPayments, takenExpected] = [
    new Set(byPerson.map(({ paymentSeq }) => paymentSeq)),
    new Set(byPerson.map(({ expectedSeq }) => expectedSeq)),
  ];
  const matched: Edge[] = [];
  const take = (edges: Edge[]): void => {
    for (const edge of edges) {
      matched.push(edge);
      takenPayments.add(edge.right);
      takenExpected.add(edge.left);
    }
  };
  const isUndone = ({ left, right }: Edge): boolean =>
    facts.undone.has(pairOf({ expectedSeq: left, paymentSeq: right }));
  const payments = facts.payments.filter(({ seq }) => !takenPayments.has(seq));
  const counting = payments.filter(counts);
  const fits: Fits = (one, payment) =>
    isAlike(one, payment) && facts.sees({ expectedSeq: one.seq, paymentSeq: payment.seq });
  const keyed = findKeyed(expected, payments, fits);
  take(counting.flatMap(({ seq }) => chooseKeyed(keyed.get(seq) ?? [], isUndone)));

  const open = expected.filter(({ isCancelled }) => !isCancelled);
  const loose: Edge[] = [];
  for (const rule of ['extra', 'document'] as const) {
    const left = { expected: without(open, takenExpected), payments: without(payments, takenPayments) };
    const edges = findEdges(rule, left, fits);
    append(loose, edges);
    const pending = new Set(left.payments.filter((one) => !counts(one)).map(({ seq }) => seq));
    take(
      pairWithoutRival(
        edges.filter(({ right }) => !pending.has(right)),
        isUndone,
      ),
    );
  }
  const paying = new Map(matched.map((edge) => [edge.right, edge]));
  // several payments may have one key
  const paidBy = new Map(matched.filter(({ rule }) => RULE_NUMBERS[rule] > 2).map((edge) => [edge.left, edge]));
  const owed = new Set(open.map(({ seq }) => seq));
  const isCandidate = (edge: Edge): boolean => {
    const [payment, order] = [paying.get(edge.right), paidBy.get(edge.left)];
    if (payment && (payment.left === edge.left || !owed.has(edge.left))) return false;
    return [payment, order].every((taken) => !taken || RULE_NUMBERS[edge.rule] < RULE_NUMBERS[taken.rule]);
  };
  const candidates = [...[...keyed.values()].flat().map(({ edge }) => edge), ...loose].filter(isCandidate);
  const pendingSeqs = new Set(payments.filter((one) => !counts(one)).map(({ seq }) => seq));
  return {
    matches: matched.map(toMatch),
    candidates: firstOfPair(candidates).map((edge) => ({
      ...toMatch(edge),
      reason: isUndone(edge) ? 'undone' : pendingSeqs.has(edge.right) ? 'pending' : 'not_unique',
    })),
  };
}

type Keyed = { edge: Edge; isCancelled: boolean };

/** Rule 2: the expected payments that the keys of each payment name. */
function findKeyed(
  expected: readonly ExpectedFacts[],
  payments: readonly PaymentFacts[],
  fits: Fits,
): Map<number, Keyed[]> {
  const by = new Map<string, ExpectedFacts[]>();
  for (const one of expected)
    for (const rule of KEY_RULES) for (const key of one.keys[rule]) add(by, `${rule} ${key}`, one);
  return new Map(
    payments.map((payment) => {
      const found = new Map<number, Keyed>();
      for (const rule of KEY_RULES) {
        for (const one of keysOf(payment, rule).flatMap((key) => by.get(`${rule} ${key}`) ?? [])) {
          if (!fits(one, payment) || found.has(one.seq)) continue;
          found.set(one.seq, { edge: { left: one.seq, right: payment.seq, rule }, isCancelled: one.isCancelled });
        }
      }
      return [payment.seq, [...found.values()]] as const;
    }),
  );
}

/** The only one, or the only one that is not cancelled. */
function chooseKeyed(found: Keyed[], isUndone: (edge: Edge) => boolean): Edge[] {
  const open = found.filter(({ isCancelled }) => !isCancelled);
  const [one, ...others] = found.length === 1 ? found : open;
  return one && others.length === 0 && !isUndone(one.edge) ? [one.edge] : [];
}

/** Rules 3 and 4: pairs in the window with an equal extra, or with an equal document and amount. */
function findEdges(
  rule: 'extra' | 'document',
  { expected, payments }: { expected: readonly ExpectedFacts[]; payments: readonly PaymentFacts[] },
  fits: Fits,
): Edge[] {
  const keyOf = (one: ExpectedFacts | PaymentFacts): string | null => {
    if (rule === 'extra') return one.extraHash;
    return one.documentHash && `${one.documentHash} ${one.amountCents}`;
  };
  const byKey = new Map<string, PaymentFacts[]>();
  for (const payment of payments) {
    const key = keyOf(payment);
    if (key !== null) add(byKey, key, payment);
  }
  return expected.flatMap((one) => {
    const { from, to } = windowOf(one);
    return (byKey.get(keyOf(one) ?? '') ?? [])
      .filter((payment) => fits(one, payment) && payment.day >= from && payment.day <= to)
      .map(({ seq }) => ({ left: one.seq, right: seq, rule }));
  });
}

/** The days in which a payment is found by rules 3 and 4. */
export function windowOf({ source, issuedDay, dueDay }: Pick<ExpectedFacts, 'source' | 'issuedDay' | 'dueDay'>) {
  const from = source === NFE_SOURCE ? addDays(issuedDay, -NFE_DAYS_BEFORE_ISSUE) : issuedDay;
  return { from, to: addDays(dueDay, WINDOW_DAYS_AFTER_DUE) };
}

type Fits = (expected: ExpectedFacts, payment: PaymentFacts) => boolean;

function isAlike(expected: ExpectedFacts, payment: PaymentFacts): boolean {
  return (
    payment.standing !== 'none' &&
    expected.operation === payment.operation &&
    (expected.platform === null || expected.platform === payment.platform)
  );
}

function toMatch({ left, right, rule }: Edge): DecidedMatch {
  return { expectedSeq: left, paymentSeq: right, rule };
}

/** A pair that several rules find is a candidate by the first. */
function firstOfPair(edges: Edge[]): Edge[] {
  const first = new Map<string, Edge>();
  for (const edge of edges) {
    const key = pairOf({ expectedSeq: edge.left, paymentSeq: edge.right });
    if (!first.has(key)) first.set(key, edge);
  }
  return [...first.values()];
}

function without<T extends { seq: number }>(all: readonly T[], taken: ReadonlySet<number>): T[] {
  return all.filter(({ seq }) => !taken.has(seq));
}

function add<T>(groups: Map<string, T[]>, key: string, one: T): void {
  const group = groups.get(key);
  if (group) group.push(one);
  else groups.set(key, [one]);
}

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
