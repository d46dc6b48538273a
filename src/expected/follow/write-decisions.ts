/** Writes what was decided about a cluster: matches, withdrawals, candidates, states and mismatches, in the caller's transaction. */
import { sql, type Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { insertRows } from '../../database/insert-returning.ts';
import type { Database } from '../../database/tables.ts';
import { addDays } from '../../domain/calendar.ts';
import type { FoundMismatch } from '../../domain/mismatch.ts';
import { formatAmount } from '../../domain/money.ts';
import { scopeOfReference } from '../../ledger/apply/compare-references.ts';
import { raiseMismatches } from '../../mismatches/raise-mismatches.ts';
import { type ResolvedScope, resolveMismatches } from '../../mismatches/resolve-mismatches.ts';
import { capParts } from '../decide/cap-parts.ts';
import { type Decided, type DecidedMatch, decideMatches, pairOf } from '../decide/decide-matches.ts';
import { type DecidedState, decideState, mismatchOf, type Part } from '../decide/decide-state.ts';
import { explainWithdrawal } from '../decide/explain-withdrawal.ts';
import { countDays, findLacks, readProofs, type Span } from './find-lacks.ts';
import type { Cluster, StoredMatch } from './load-cluster.ts';
import type { Head, LoadedExpected } from './lock-expected.ts';

/** The actor of matches that the rules make. */
export const RULES_ACTOR = 'confere';

/** Decides and writes a cluster whose expected payments are locked. @returns whether an alert may be due. */
export async function writeDecisions(context: Context, trx: Transaction<Database>, cluster: Cluster): Promise<boolean> {
  const { standing } = cluster;
  const byPerson = standing.filter(({ rule }) => rule === 'person');
  const decided = decideMatches({
    expected: [...cluster.expected.values()].map(({ facts }) => facts),
    payments: [...cluster.payments.values()].map(({ facts }) => facts),
    byPerson: byPerson.map(toPair),
    undone: cluster.undone,
  });
  const now = context.clock.now();
  const made = await writeMatches(trx, cluster, decided, now);
  await writeCandidates(trx, cluster, decided);
  return await writeStates(context, trx, cluster, {
    ...{ now, matches: [...capParts(byPerson, (seq) => amountOf(cluster, seq)), ...made] },
    candidates: new Set(decided.candidates.map(({ expectedSeq }) => expectedSeq)),
  });
}

type Matched = Pick<StoredMatch, 'expected_seq' | 'transaction_seq' | 'amount_cents'>;

function toPair(row: Pick<StoredMatch, 'expected_seq' | 'transaction_seq'>) {
  return { expectedSeq: row.expected_seq, paymentSeq: row.transaction_seq };
}

function amountOf({ payments }: Pick<Cluster, 'payments'>, seq: number): bigint {
  return payments.get(seq)?.facts.amountCents ?? 0n;
}

/** @returns the matches of rules that stand now. */
async function writeMatches(
  trx: Transaction<Database>,
  { standing, payments, parts }: Cluster,
  decided: Decided,
  now: Date,
): Promise<Matched[]> {
  const about = { created_at: now, actor: RULES_ACTOR };
  const wanted = new Map(decided.matches.map((one) => [pairOf(one), one]));
  const isWanted = (row: StoredMatch): boolean =>
    wanted.get(pairOf(toPair(row)))?.rule === row.rule &&
    row.amount_cents === amountOf({ payments }, row.transaction_seq);
  const rules = standing.filter(({ rule }) => rule !== 'person');
  const kept = rules.filter(isWanted);
  const known = new Set(kept.map((row) => pairOf(toPair(row))));
  const rows = [
    ...rules
      .filter((row) => !isWanted(row))
      .map((row) => ({
        ...{ expected_seq: row.expected_seq, transaction_seq: row.transaction_seq, part: null },
        ...{ amount_cents: row.amount_cents, rule: 'undo', undoes_seq: row.seq },
        ...{ reason: explainWithdrawal(toPair(row), { payments, decided }), ...about },
      })),
    ...decided.matches
      .filter((one) => !known.has(pairOf(one)))
      .map(({ expectedSeq, paymentSeq, rule }: DecidedMatch) => ({
        ...{ expected_seq: expectedSeq, transaction_seq: paymentSeq, part: (parts.get(paymentSeq) ?? 0) + 1 },
        ...{ amount_cents: amountOf({ payments }, paymentSeq), rule, undoes_seq: null, reason: null, ...about },
      })),
  ];
  if (rows.length > 0) await insertRows(trx, 'expected_matches', rows).execute();
  return [...kept, ...rows.filter(({ part }) => part !== null)];
}

async function writeCandidates(trx: Transaction<Database>, { candidates }: Cluster, decided: Decided): Promise<void> {
  const keyOf = (row: { expected_seq: number; transaction_seq: number; rule: string; reason: string }): string =>
    `${row.expected_seq} ${row.transaction_seq} ${row.rule} ${row.reason}`;
  const rows = decided.candidates.map(({ expectedSeq, paymentSeq, rule, reason }) => ({
    ...{ expected_seq: expectedSeq, transaction_seq: paymentSeq, rule, reason },
  }));
  const [stored, wanted] = [new Set(candidates.map(keyOf)), new Set(rows.map(keyOf))];
  const gone = candidates.filter((row) => !wanted.has(keyOf(row)));
  if (gone.length > 0)
    await sql`DELETE FROM expected_candidates WHERE (expected_seq, transaction_seq) IN
      (${sql.join(gone.map((row) => sql`(${row.expected_seq}, ${row.transaction_seq})`))})`.execute(trx);
  const fresh = rows.filter((row) => !stored.has(keyOf(row)));
  if (fresh.length > 0) await insertRows(trx, 'expected_candidates', fresh).execute();
}

type Given = { matches: Matched[]; candidates: ReadonlySet<number>; now: Date };
/** Columns of a row of the history. */
const RECORDED = ['state', 'reason_code', 'settled_cents', 'returned_cents', 'parts_settled'] as const;
const DERIVED = ['paid_day', 'first_lack', 'last_lack', 'lacks'] as const;
type After = Pick<Head, (typeof RECORDED)[number] | (typeof DERIVED)[number] | 'look_at'>;
/** `reference`: the only one of all its payments. */
type Change = { head: Head; after: After; isNew: boolean; reference: string | undefined };

async function writeStates(
  context: Context,
  trx: Transaction<Database>,
  { expected, payments }: Cluster,
  { matches, candidates, now }: Given,
): Promise<boolean> {
  const { calendar } = context;
  const today = calendar.dayOf(now);
  const partsOf = Map.groupBy(matches, (row) => row.expected_seq);
  const decide = ({ head, facts }: LoadedExpected, lacks: Span[]): DecidedState => {
    const parts = (partsOf.get(head.seq) ?? []).map((row): Part => {
      const { standing = 'none', day = '' } = payments.get(row.transaction_seq)?.facts ?? {};
      return { amountCents: row.amount_cents, standing, day };
    });
    const { amountCents, isCancelled } = facts;
    const days = { isOver: head.end_day < today, lacks: countDays(lacks), hasCandidates: candidates.has(head.seq) };
    return decideState({ amountCents, isCancelled, parts, ...days });
  };
  const all = [...expected.values()].map((one) => ({ one, first: decide(one, []) }));
  // only where nobody paid must the days be proven
  const doubted = all.filter(({ first }) => first.state === 'unpaid').map(({ one }) => one.head);
  const terms = doubted.map((head) => ({ issuedDay: head.issued_day, endDay: head.end_day }));
  const proofs = await readProofs(trx, terms);
  const changes = all.map(({ one, first }): Change => {
    const { head } = one;
    const term = { issuedDay: head.issued_day, endDay: head.end_day };
    const lacks = first.state === 'unpaid' ? findLacks(calendar, term, proofs) : [];
    const decided = lacks.length > 0 ? decide(one, lacks) : first;
    const after = {
      ...{ state: decided.state, reason_code: decided.reasonCode, paid_day: decided.paidDay },
      ...{ settled_cents: decided.settledCents, returned_cents: decided.returnedCents, parts_settled: decided.parts },
      ...{ first_lack: lacks[0]?.from ?? null, last_lack: lacks.at(-1)?.to ?? null, lacks: countDays(lacks) },
      look_at: decided.state === 'open' ? calendar.startOfDay(addDays(head.end_day, 1)) : null,
    };
    const paid = (partsOf.get(head.seq) ?? []).map((row) => payments.get(row.transaction_seq)?.facts.reference);
    const [reference, ...others] = new Set(paid);
    const isNew = head.sequence === 0 || RECORDED.some((name) => head[name] !== after[name]);
    return { head, after, isNew, reference: others.length === 0 ? (reference ?? undefined) : undefined };
  });
  await recordChanges(trx, changes, now);
  return await updateMismatches(context, trx, changes, now);
}

async function recordChanges(trx: Transaction<Database>, changes: Change[], now: Date): Promise<void> {
  const recorded = changes.filter(({ isNew }) => isNew);
  const rows = recorded.map(({ head, after }) => ({
    ...{ expected_seq: head.seq, sequence: head.sequence + 1, version: head.version, at: now },
    ...Object.fromEntries(RECORDED.map((name) => [name, after[name]])),
  }));
  // cast: the columns that `RECORDED` names
  if (rows.length > 0) await insertRows(trx, 'expected_changes', rows as never).execute();
  const isTime = (head: Head, after: After): boolean => head.look_at?.getTime() !== after.look_at?.getTime();
  const stored = changes.filter(
    ({ head, after, isNew }) => isNew || isTime(head, after) || DERIVED.some((name) => head[name] !== after[name]),
  );
  if (stored.length === 0) return;
  const updated = stored.map(({ head, after, isNew }) => ({
    ...head,
    ...after,
    sequence: head.sequence + (isNew ? 1 : 0),
    state_at: head.state === after.state && head.sequence > 0 ? head.state_at : now,
  }));
  const columns = [...RECORDED, ...DERIVED, 'look_at', 'sequence', 'state_at'];
  // the rows are locked and known by their numbers: each one is updated, none is inserted
  await insertRows(trx, 'expected_payments', updated)
    .onDuplicateKeyUpdate(Object.fromEntries(columns.map((name) => [name, sql`VALUES(${sql.ref(name)})`])))
    .execute();
}

async function updateMismatches(
  context: Context,
  trx: Transaction<Database>,
  changes: Change[],
  now: Date,
): Promise<boolean> {
  const [found, resolved]: [FoundMismatch[], ResolvedScope[]] = [[], []];
  for (const change of changes) {
    const { head, after } = change;
    const [before, kind] = [head.sequence > 0 ? mismatchOf(head.state) : undefined, mismatchOf(after.state)];
    if (before && before !== kind) resolved.push({ kind: before, scope: head.id });
    // also in a known state: its difference may be another
    if (kind) found.push(toMismatch(context, change, kind));
  }
  if (resolved.length > 0) await resolveMismatches(trx, resolved, 'fresh_evidence', now);
  const raised = await raiseMismatches(trx, found, now);
  return raised.length + resolved.length > 0;
}

function toMismatch({ keys }: Context, { head, after, reference }: Change, kind: FoundMismatch['kind']): FoundMismatch {
  const differenceCents = after.settled_cents - head.amount_cents;
  return {
    ...{ kind, scope: head.id, amountCents: differenceCents },
    expected: { state: 'paid' },
    // a second payment of one reference was reported when it was booked
    ...(kind === 'paid_twice' &&
      reference !== undefined && {
        joins: { kind: 'duplicate_reference' as const, scope: scopeOfReference(keys, reference) },
      }),
    // a person's resolution holds until the difference changes
    actual: { difference: formatAmount(differenceCents) },
  };
}
