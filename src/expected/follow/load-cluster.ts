/**
 * Loads a cluster: the expected payments and payments that a change may concern, with all that these may be matched with, and so
 * on until nothing new is found. What is outside shares no key, extra or document with what is inside, so that the decision about
 * a cluster is that about all.
 *
 * Expected payments are locked as they are met, by their row numbers. Payments are not: one that changes leaves other work.
 */
import type { Selectable, Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { append } from '../../domain/lists.ts';
import { type Pair, pairOf } from '../decide/decide-matches.ts';
import type { ExpectedFacts, KeyRule } from '../decide/facts.ts';
import { documentKey, extraKey, findExpected, findPayments, type Hashes, ofSender } from './find-neighbours.ts';
import { type LoadedExpected, lockExpected } from './lock-expected.ts';
import { type LoadedPayment, readPayments } from './read-payments.ts';
import { readScopes, type Scopes, sees } from './read-scopes.ts';

export type StoredMatch = Selectable<Database['expected_matches']>;
export type StoredCandidate = Selectable<Database['expected_candidates']>;
export type Cluster = {
  expected: Map<number, LoadedExpected>;
  payments: Map<number, LoadedPayment>;
  /** Matches that stand. */
  standing: StoredMatch[];
  /** Pairs that a person undid. */
  undone: Set<string>;
  /** Whether an expected payment may be a payment: a merchant's, only what that merchant sees. */
  sees: (pair: Pair) => boolean;
  /** The highest part of each transaction. */
  parts: Map<number, number>;
  candidates: StoredCandidate[];
  /** Work about these payments that is in the facts: it was committed before they were read. */
  work: number[];
};

type Loading = Omit<Cluster, 'sees'> & {
  scopes: Scopes;
  matches: Map<number, StoredMatch>;
  edges: Map<string, StoredCandidate>;
  common: Set<string>;
};

/** @param seeds row numbers of expected payments and of transactions. `isLocking: false`: within a snapshot. */
export async function loadCluster(
  context: Context,
  trx: Transaction<Database>,
  seeds: { expected: Iterable<number>; payments: Iterable<number>; isLocking?: false },
): Promise<Cluster> {
  const loading: Loading = {
    ...{ expected: new Map(), payments: new Map(), standing: [], undone: new Set(), parts: new Map() },
    ...{ candidates: [], work: [], matches: new Map(), edges: new Map(), common: new Set(), scopes: new Map() },
  };
  let [expected, payments] = [new Set(seeds.expected), new Set(seeds.payments)];
  while (expected.size + payments.size > 0) {
    const heads = await lockExpected(trx, [...expected], seeds.isLocking);
    // after the lock: a filter that changes later leaves other work
    loading.scopes = await readScopes(trx);
    for (const one of heads) loading.expected.set(one.head.seq, one);
    append(loading.work, await readWorkOf(trx, [...payments]));
    const met = await readPayments(context, trx, [...payments]);
    for (const one of met) loading.payments.set(one.facts.seq, one);
    const found = {
      payments: await findPayments(trx, heads, loading.common),
      expected: await findExpected(trx, met, loading),
    };
    const stored = await loadStored(trx, loading, heads, met);
    expected = new Set([...found.expected, ...stored.expected].filter((seq) => !loading.expected.has(seq)));
    payments = new Set([...found.payments, ...stored.payments].filter((seq) => !loading.payments.has(seq)));
  }
  return settle(loading);
}

async function readWorkOf(trx: Transaction<Database>, payments: number[]): Promise<number[]> {
  if (payments.length === 0) return [];
  const rows = await trx.selectFrom('expected_work').select('seq').where('transaction_seq', 'in', payments).execute();
  return rows.map(({ seq }) => seq);
}

/** Loads matches and candidates of these rows. @returns the other side of each. */
async function loadStored(
  trx: Transaction<Database>,
  loading: Loading,
  heads: LoadedExpected[],
  payments: LoadedPayment[],
): Promise<{ expected: number[]; payments: number[] }> {
  const other = { expected: [] as number[], payments: [] as number[] };
  const sides = [
    ['expected_seq', heads.map(({ head }) => head.seq)],
    ['transaction_seq', payments.map(({ facts }) => facts.seq)],
  ] as const;
  for (const [column, seqs] of sides) {
    if (seqs.length === 0) continue;
    const matches = await trx.selectFrom('expected_matches').selectAll().where(column, 'in', seqs).execute();
    const candidates = await trx.selectFrom('expected_candidates').selectAll().where(column, 'in', seqs).execute();
    for (const one of matches) loading.matches.set(one.seq, one);
    for (const one of candidates) loading.edges.set(`${one.expected_seq} ${one.transaction_seq}`, one);
    for (const { expected_seq, transaction_seq } of [...matches, ...candidates]) {
      other.expected.push(expected_seq);
      other.payments.push(transaction_seq);
    }
  }
  return other;
}

function settle(loading: Loading): Cluster {
  const { matches, edges, common, expected, payments, work, scopes } = loading;
  const undoings = [...matches.values()].filter(({ undoes_seq }) => undoes_seq !== null);
  const undone = new Set(undoings.map(({ undoes_seq }) => undoes_seq));
  const parts = new Map<number, number>();
  for (const { transaction_seq: seq, part } of matches.values())
    parts.set(seq, Math.max(parts.get(seq) ?? 0, part ?? 0));
  for (const one of common.size === 0 ? [] : expected.values()) {
    const { merchant_seq: sender } = one.head;
    one.facts = withoutCommon(one.facts, (value) => common.has(value) || common.has(ofSender(sender, value)));
  }
  for (const one of common.size === 0 ? [] : payments.values())
    one.facts = withoutCommon(one.facts, (value) => common.has(value));
  const standing = [...matches.values()].filter(({ seq, undoes_seq }) => undoes_seq === null && !undone.has(seq));
  const matched = new Set(
    standing.map((row) => pairOf({ expectedSeq: row.expected_seq, paymentSeq: row.transaction_seq })),
  );
  return {
    ...{ expected, payments, parts, work, standing, candidates: [...edges.values()] },
    sees(pair) {
      const [one, payment] = [expected.get(pair.expectedSeq), payments.get(pair.paymentSeq)];
      return !!one && !!payment && sees(scopes, one.head.merchant_seq, payment, matched.has(pairOf(pair)));
    },
    undone: new Set(
      undoings
        .filter(({ reason }) => reason === 'person')
        .map((row) => pairOf({ expectedSeq: row.expected_seq, paymentSeq: row.transaction_seq })),
    ),
  };
}

/** A value that is common matches nothing. */
function withoutCommon<T extends Hashes & object>(facts: T, isCommon: (value: string) => boolean): T {
  const { keys } = facts as Partial<ExpectedFacts>;
  const keep = (rule: KeyRule) => new Set([...(keys?.[rule] ?? [])].filter((key) => !isCommon(`${rule} ${key}`)));
  return {
    ...facts,
    ...(keys && { keys: { reference: keep('reference'), e2e_id: keep('e2e_id'), invoice: keep('invoice') } }),
    ...(isCommon(extraKey(facts)) && { extraHash: null }),
    ...(isCommon(documentKey(facts)) && { documentHash: null }),
  };
}
