/** Writes what was decided about a cluster: matches, withdrawals, candidates, states and mismatches, in the caller's transaction. */
import { sql, type Transaction } from 'kysely';
import { SYSTEM_ACTOR } from '../../access/audit.ts';
import { enqueueExpected } from '../../callbacks/expected/enqueue-expected.ts';
import { digestExpected } from '../../callbacks/queue/derive-webhook-id.ts';
import {
  readExpectedMatches,
  type StoredExpectedMatch,
  selectStanding,
} from '../../callbacks/render/read-expected-matches.ts';
import type { Context } from '../../context.ts';
import { insertRows } from '../../database/insert-returning.ts';
import type { Database } from '../../database/tables.ts';
import { largest } from '../../domain/lists.ts';
import type { FoundMismatch } from '../../domain/mismatch.ts';
import { formatAmount } from '../../domain/money.ts';
import { scopeOfReference } from '../../ledger/apply/compare-references.ts';
import { raiseMismatches } from '../../mismatches/raise-mismatches.ts';
import { type ResolvedScope, resolveMismatches } from '../../mismatches/resolve-mismatches.ts';
import { type Decided, explainWithdrawal } from '../decide/decide-matches.ts';
import { decideReceipt } from '../decide/decide-receipt.ts';
import { mismatchOf } from '../decide/decide-state.ts';
import {
  type Change,
  compareCandidates,
  compareMatches,
  DERIVED,
  decideCluster,
  RECORDED,
  toPair,
} from './decide-cluster.ts';
import type { Cluster } from './load-cluster.ts';
import { updateStarts } from './update-starts.ts';

/** Whether an alert may be due, and how many callbacks were added: the caller notifies their workers after its commit. */
export type Written = { mayAlert: boolean; callbacks: number };

/** Decides and writes a cluster whose expected payments are locked. */
export async function writeDecisions(context: Context, trx: Transaction<Database>, cluster: Cluster): Promise<Written> {
  const now = context.clock.now();
  const { decided, matches, changes } = await decideCluster(context, trx, cluster, now);
  await writeMatches(trx, cluster, decided, now);
  await writeCandidates(trx, cluster, decided);
  const sent = await recordChanges(context, trx, changes, now);
  const matched = new Set(matches.map((row) => row.transaction_seq));
  const receipts = await findUnidentified(context, trx, { ...cluster, matched }, now);
  const mayAlert = await updateMismatches(context, trx, { changes, receipts }, now);
  return { mayAlert, callbacks: await enqueueExpected(context, trx, sent) };
}

async function writeMatches(trx: Transaction<Database>, cluster: Cluster, decided: Decided, now: Date): Promise<void> {
  const { payments, parts } = cluster;
  const about = { created_at: now, actor: SYSTEM_ACTOR };
  const { withdrawn, made } = compareMatches(cluster, decided);
  const rows = [
    ...withdrawn.map((row) => ({
      ...{ expected_seq: row.expected_seq, transaction_seq: row.transaction_seq, part: null },
      ...{ amount_cents: row.amount_cents, rule: 'undo', undoes_seq: row.seq },
      ...{ reason: explainWithdrawal(toPair(row), { payments, decided }), ...about },
    })),
    ...made.map((one) => ({
      ...one,
      ...{ part: (parts.get(one.transaction_seq) ?? 0) + 1, undoes_seq: null, reason: null, ...about },
    })),
  ];
  if (rows.length > 0) await insertRows(trx, 'expected_matches', rows);
}

async function writeCandidates(trx: Transaction<Database>, cluster: Cluster, decided: Decided): Promise<void> {
  const { gone, fresh } = compareCandidates(cluster, decided);
  if (gone.length > 0)
    await sql`DELETE FROM expected_candidates WHERE (expected_seq, transaction_seq) IN
      (${sql.join(gone.map((row) => sql`(${row.expected_seq}, ${row.transaction_seq})`))})`.execute(trx);
  if (fresh.length > 0) await insertRows(trx, 'expected_candidates', fresh);
}

/** @returns the changes that merchants are sent. */
async function recordChanges(
  { keys }: Context,
  trx: Transaction<Database>,
  changes: Change[],
  now: Date,
): Promise<{ seq: number; sequence: number }[]> {
  const recorded = changes.filter(({ isNew }) => isNew);
  const sent = recorded.filter(isSent).map(({ head }) => ({ seq: head.seq, sequence: head.sequence + 1 }));
  const matches = await readExpectedMatches(
    trx,
    sent.map(({ seq }) => seq),
  );
  const rows = recorded.map((change) => ({
    ...{ expected_seq: change.head.seq, sequence: change.head.sequence + 1, version: change.head.version, at: now },
    ...Object.fromEntries(RECORDED.map((name) => [name, change.after[name]])),
    ...describeContent(keys, change, matches.get(change.head.seq) ?? []),
  }));
  // cast: the columns that `RECORDED` names
  if (rows.length > 0) await insertRows(trx, 'expected_changes', rows as never);
  const stored = changes.filter(({ isNew, isDerived }) => isNew || isDerived);
  if (stored.length === 0) return sent;
  const updated = stored.map(({ head, after, isNew }) => ({
    ...head,
    ...after,
    sequence: head.sequence + (isNew ? 1 : 0),
    state_at: head.state === after.state && head.sequence > 0 ? head.state_at : now,
  }));
  const columns = [...RECORDED, ...DERIVED, 'look_at', 'sequence', 'state_at'] as const;
  // the rows are locked and known by their numbers: each one is updated, none is inserted
  await insertRows(trx, 'expected_payments', updated, columns);
  return sent;
}

/** Whether merchants are sent a change: of the state, but for the first `open`, which each begins with, and for what nobody knows. */
function isSent({ head, after }: Change): boolean {
  return after.state !== head.state && after.state !== 'not_proven';
}

/** Returns what the callbacks of a change stand for, and the newest match that it knows. */
function describeContent(keys: Context['keys'], change: Change, matches: StoredExpectedMatch[]) {
  if (!isSent(change)) return { content_hash: null, last_match_seq: null };
  const { state, settled_cents: settledCents, returned_cents: returnedCents } = change.after;
  const lastSeq = largest(matches.map(({ seq, undoneSeq }) => undoneSeq ?? seq));
  const standing = selectStanding(matches, lastSeq);
  const content = { state, version: change.head.version, settledCents, returnedCents, matches: standing };
  return { content_hash: digestExpected(keys.callbackIds, content), last_match_seq: Math.max(lastSeq, 0) };
}

async function updateMismatches(
  context: Context,
  trx: Transaction<Database>,
  { changes, receipts }: { changes: Change[]; receipts: Findings },
  now: Date,
): Promise<boolean> {
  const { found, resolved } = receipts;
  for (const change of changes) {
    const { head, after } = change;
    const [before, kind] = [head.sequence > 0 ? mismatchOf(head.state) : undefined, mismatchOf(after.state)];
    if (before && before !== kind) resolved.push({ kind: before, scope: head.id });
    // also in a known state: its difference may be another
    if (kind) found.push(toMismatch(context, change, kind));
  }
  const ended = await resolveMismatches(trx, resolved, 'fresh_evidence', now);
  const raised = await raiseMismatches(trx, found, now);
  return raised.length + ended > 0;
}

type Findings = { found: FoundMismatch[]; resolved: ResolvedScope[] };

/** Finds receipts that are nobody's, and those that are no more. */
async function findUnidentified(
  { calendar }: Context,
  trx: Transaction<Database>,
  { expected, payments, matched }: Pick<Cluster, 'expected' | 'payments'> & { matched: ReadonlySet<number> },
  now: Date,
): Promise<Findings> {
  const starts = await updateStarts(
    trx,
    [...expected.values()].map(({ head }) => head),
  );
  const [found, resolved]: [FoundMismatch[], ResolvedScope[]] = [[], []];
  const receipts = [...payments.values()].filter(({ facts }) => facts.operation === 'cashin');
  const known = await readReported(
    trx,
    receipts.map(({ id }) => id),
  );
  for (const { facts, id, paidWall } of receipts) {
    const paidAt = paidWall === null ? null : calendar.toInstant(paidWall);
    const today = decideReceipt({ facts, paidAt, isMatched: matched.has(facts.seq) }, starts, now);
    // what was reported stays to be explained, also once orders of other platforms changed the days
    const decided = today ?? known.get(id);
    const mismatch = { kind: 'receipt_unidentified', scope: id } as const;
    if (decided === 'ended') resolved.push(mismatch);
    else if (decided !== undefined)
      found.push({
        ...{ ...mismatch, transactionSeq: facts.seq, transactionId: id, reference: facts.reference },
        ...{ amountCents: facts.amountCents, baseline: decided === 'baseline' },
        ...{ expected: { matched: true }, actual: { matched: false } },
      });
  }
  return { found, resolved };
}

/** How receipts were reported before, by their ids; those that were never are left out. */
async function readReported(
  trx: Transaction<Database>,
  ids: string[],
): Promise<Map<string, 'unidentified' | 'baseline'>> {
  if (ids.length === 0) return new Map();
  const rows = await trx
    .selectFrom('mismatches')
    .select(['scope', 'baseline'])
    .where('kind', '=', 'receipt_unidentified')
    .where('scope', 'in', ids)
    .execute();
  return new Map(rows.map(({ scope, baseline }) => [scope, baseline === 1 ? 'baseline' : 'unidentified']));
}

function toMismatch({ keys }: Context, { head, after, reference }: Change, kind: FoundMismatch['kind']): FoundMismatch {
  // nothing was owed any more on a cancelled one
  const owedCents = kind === 'paid_after_cancel' ? 0n : head.amount_cents;
  const differenceCents = after.settled_cents - owedCents;
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
