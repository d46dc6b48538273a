/**
 * Decides a cluster by the facts now, and compares that with what is stored. The follower writes the difference; the check of the books
 * finds none. It writes nothing, and takes no locks.
 */
import type { Transaction } from 'kysely';
import { capParts } from '../../callbacks/render/cap-parts.ts';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { type Decided, decideMatches, type Pair, pairOf } from '../decide/decide-matches.ts';
import { type DecidedState, decideState, type Part } from '../decide/decide-state.ts';
import { findLacks, readProofs, type Span, sumDays } from './find-lacks.ts';
import type { Cluster, StoredCandidate, StoredMatch } from './load-cluster.ts';
import type { Head, LoadedExpected } from './lock-expected.ts';

type Matched = Pick<StoredMatch, 'expected_seq' | 'transaction_seq' | 'amount_cents'>;
/** Columns of a row of the history. */
export const RECORDED = ['state', 'reason_code', 'settled_cents', 'returned_cents', 'parts_settled'] as const;
export const DERIVED = ['paid_day', 'first_lack', 'last_lack', 'lacks'] as const;
type After = Pick<Head, (typeof RECORDED)[number] | (typeof DERIVED)[number] | 'look_at'>;
/** `isNew`: the history gets a row; `isDerived`: other columns differ. `reference`: the only one of all its payments. */
export type Change = { head: Head; after: After; isNew: boolean; isDerived: boolean; reference: string | undefined };

export type DecidedCluster = { decided: Decided; matches: Matched[]; changes: Change[] };

export async function decideCluster(
  context: Context,
  trx: Transaction<Database>,
  cluster: Cluster,
  now: Date,
): Promise<DecidedCluster> {
  const byPerson = cluster.standing.filter(({ rule }) => rule === 'person');
  const decided = decideMatches({
    expected: [...cluster.expected.values()].map(({ facts }) => facts),
    payments: [...cluster.payments.values()].map(({ facts }) => facts),
    byPerson: byPerson.map(toPair),
    undone: cluster.undone,
    sees: cluster.sees,
  });
  const matches = [...capParts(byPerson, (seq) => amountOf(cluster, seq)), ...listWanted(cluster, decided)];
  return { decided, matches, changes: await decideStates(context, trx, cluster, { matches, decided, now }) };
}

export function toPair(row: Pick<StoredMatch, 'expected_seq' | 'transaction_seq'>): Pair {
  return { expectedSeq: row.expected_seq, paymentSeq: row.transaction_seq };
}

function amountOf({ payments }: Cluster, seq: number): bigint {
  return payments.get(seq)?.facts.amountCents ?? 0n;
}

/** The matches of rules: each takes a whole payment. */
function listWanted(cluster: Cluster, { matches }: Decided) {
  return matches.map(({ expectedSeq, paymentSeq, rule }) => ({
    ...{ expected_seq: expectedSeq, transaction_seq: paymentSeq, rule },
    amount_cents: amountOf(cluster, paymentSeq),
  }));
}

/** Returns matches of rules that stand no more, and those that are not stored. */
export function compareMatches(cluster: Cluster, decided: Decided) {
  const wanted = listWanted(cluster, decided);
  const keyOf = (row: Matched & { rule: string }): string => `${pairOf(toPair(row))} ${row.rule} ${row.amount_cents}`;
  const stored = cluster.standing.filter(({ rule }) => rule !== 'person');
  const [before, after] = [new Set(stored.map(keyOf)), new Set(wanted.map(keyOf))];
  return {
    withdrawn: stored.filter((row) => !after.has(keyOf(row))),
    made: wanted.filter((row) => !before.has(keyOf(row))),
  };
}

/** Returns candidates that are none any more, and those that are not stored. */
export function compareCandidates({ candidates }: Cluster, decided: Decided) {
  const keyOf = (row: StoredCandidate): string => `${pairOf(toPair(row))} ${row.rule} ${row.reason}`;
  const wanted = decided.candidates.map(({ expectedSeq, paymentSeq, rule, reason }) => ({
    ...{ expected_seq: expectedSeq, transaction_seq: paymentSeq, rule, reason },
  }));
  const [before, after] = [new Set(candidates.map(keyOf)), new Set(wanted.map(keyOf))];
  return {
    gone: candidates.filter((row) => !after.has(keyOf(row))),
    fresh: wanted.filter((row) => !before.has(keyOf(row))),
  };
}

type Given = { matches: Matched[]; decided: Decided; now: Date };

async function decideStates(
  { calendar }: Context,
  trx: Transaction<Database>,
  { expected, payments }: Cluster,
  { matches, decided, now }: Given,
): Promise<Change[]> {
  const today = calendar.dayOf(now);
  const candidates = new Set(decided.candidates.map(({ expectedSeq }) => expectedSeq));
  const partsOf = Map.groupBy(matches, (row) => row.expected_seq);
  const decide = ({ head, facts }: LoadedExpected, lacks: Span[]): DecidedState => {
    const parts = (partsOf.get(head.seq) ?? []).map((row): Part => {
      const { standing = 'none', day = '' } = payments.get(row.transaction_seq)?.facts ?? {};
      return { amountCents: row.amount_cents, standing, day };
    });
    const { amountCents, isCancelled } = facts;
    const days = { isOver: head.end_day < today, lacks: sumDays(lacks), hasCandidates: candidates.has(head.seq) };
    return decideState({ amountCents, isCancelled, parts, ...days });
  };
  const all = [...expected.values()].map((one) => ({ one, first: decide(one, []) }));
  // only where nobody paid must the days be proven
  const termOf = ({ head }: LoadedExpected) => ({ issuedDay: head.issued_day, endDay: head.end_day });
  const doubted = all.filter(({ first }) => first.state === 'unpaid');
  const proofs = await readProofs(
    trx,
    doubted.map(({ one }) => termOf(one)),
  );
  return all.map(({ one, first }): Change => {
    const { head } = one;
    const lacks = first.state === 'unpaid' ? findLacks(calendar, termOf(one), proofs) : [];
    const state = lacks.length > 0 ? decide(one, lacks) : first;
    const after = {
      ...{ state: state.state, reason_code: state.reasonCode, paid_day: state.paidDay },
      ...{ settled_cents: state.settledCents, returned_cents: state.returnedCents, parts_settled: state.parts },
      ...{ first_lack: lacks[0]?.from ?? null, last_lack: lacks.at(-1)?.to ?? null, lacks: sumDays(lacks) },
      look_at: state.state === 'open' ? calendar.endOfDay(head.end_day) : null,
    };
    const paid = (partsOf.get(head.seq) ?? []).map((row) => payments.get(row.transaction_seq)?.facts.reference);
    const [reference, ...others] = new Set(paid);
    return {
      ...{ head, after, reference: others.length === 0 ? (reference ?? undefined) : undefined },
      isNew: head.sequence === 0 || RECORDED.some((name) => head[name] !== after[name]),
      isDerived:
        head.look_at?.getTime() !== after.look_at?.getTime() || DERIVED.some((name) => head[name] !== after[name]),
    };
  });
}
