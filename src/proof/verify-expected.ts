import { sql, type Transaction } from 'kysely';
import type { Context } from '../context.ts';
import { inSnapshot } from '../database/in-snapshot.ts';
import type { Database } from '../database/tables.ts';
import { formatAmount } from '../domain/money.ts';
import { compareCandidates, compareMatches, decideCluster, RECORDED } from '../expected/follow/decide-cluster.ts';
import { type Cluster, loadCluster } from '../expected/follow/load-cluster.ts';
import type { Verification } from './check-state.ts';
import type { ReportBreak } from './collect-breaks.ts';

const EXPECTED_AT_ONCE = 200;
/** With more work the follower is behind: what it has not decided is not verified. */
const WORK_MAX = 10_000;
const NEVER = new Date(8.64e15);

/**
 * Verifies the next expected payments, all of them also after a proof: that each has the facts of its newest version, the state of its
 * newest change, and the matches, candidates and state that the facts decide; and that no payment is matched beyond its amount. What the follower
 * has still to decide is left to the next check.
 */
export async function verifyExpected({ context, state: { expected }, report }: Verification): Promise<boolean> {
  const seqs = await inSnapshot(context.db, async (snapshot) => {
    const rows = await snapshot
      .selectFrom('expected_payments')
      .select('seq')
      .where('seq', '>', expected.after)
      .orderBy('seq')
      .limit(EXPECTED_AT_ONCE)
      .execute();
    const own = rows.map(({ seq }) => seq);
    if (own.length > 0) await verifyCluster(context, snapshot, own, report);
    return own;
  });
  expected.after = seqs.at(-1) ?? expected.after;
  expected.count += seqs.length;
  return seqs.length > 0;
}

async function verifyCluster(
  context: Context,
  snapshot: Transaction<Database>,
  seqs: number[],
  report: ReportBreak,
): Promise<void> {
  const now = context.clock.now();
  const cluster = await loadCluster(context, snapshot, { expected: seqs, payments: [], isLocking: false });
  const { decided, changes } = await decideCluster(context, snapshot, cluster, now);
  const isLeft = await readWork(snapshot, cluster, now);
  const own = new Set(seqs.filter((seq) => !isLeft({ expected_seq: seq })));
  const idOf = (seq: number): string => cluster.expected.get(seq)?.head.id ?? `ep of row ${seq}`;
  const paymentOf = (seq: number): string => cluster.payments.get(seq)?.id ?? `row ${seq}`;
  const { withdrawn, made } = compareMatches(cluster, decided);
  const { gone, fresh } = compareCandidates(cluster, decided);
  for (const [rows, what] of [
    [withdrawn, 'is stored as its match, and no rule matches them'],
    [made, 'is not stored as its match, and a rule matches them'],
    [gone, 'is stored as its candidate, and is none'],
    [fresh, 'is its candidate, and is not stored'],
  ] as const)
    for (const row of rows)
      if (own.has(row.expected_seq) && !isLeft(row))
        report({ scope: idOf(row.expected_seq), says: `${paymentOf(row.transaction_seq)} ${what}` });
  for (const { head, after } of changes) {
    const other = RECORDED.filter((name) => head[name] !== after[name]);
    if (own.has(head.seq) && other.length > 0)
      report({ scope: head.id, says: `its ${other.join(', ')} is not what the facts decide: ${after.state}` });
  }
  for (const { id, says } of await findUnlike(snapshot, [...own])) report({ scope: id, says });
  await verifyParts(snapshot, cluster, report);
}

type Pair = { expected_seq?: number; transaction_seq?: number };

/** @returns whether the follower has still to decide about a row. */
async function readWork(
  snapshot: Transaction<Database>,
  { expected }: Cluster,
  now: Date,
): Promise<(row: Pair) => boolean> {
  const work = await snapshot
    .selectFrom('expected_work')
    .select(['expected_seq', 'transaction_seq', 'from_day'])
    .limit(WORK_MAX)
    .execute();
  // days that were proven may concern any
  const isBehind = work.length === WORK_MAX || work.some(({ from_day }) => from_day !== null);
  const dueAt = (seq = 0): Date | null => expected.get(seq)?.head.look_at ?? null;
  const [expectedSeqs, paymentSeqs] = [
    new Set(work.map((row) => row.expected_seq)),
    new Set(work.map((row) => row.transaction_seq)),
  ];
  return ({ expected_seq, transaction_seq }) =>
    isBehind ||
    (dueAt(expected_seq) ?? NEVER) <= now ||
    expectedSeqs.has(expected_seq ?? 0) ||
    paymentSeqs.has(transaction_seq ?? 0);
}

/** Expected payments whose row is not like its newest version, change or cancellation. */
async function findUnlike(snapshot: Transaction<Database>, seqs: number[]): Promise<{ id: string; says: string }[]> {
  if (seqs.length === 0) return [];
  const { rows } = await sql<{ id: string; facts: number; history: number; cancelled: number }>`
    SELECT head.id,
      version.seq IS NOT NULL AND version.expected_id = head.id AND version.version = head.version
        AND NOT EXISTS (SELECT 1 FROM expected_versions newer WHERE newer.expected_id = head.id AND newer.version > head.version)
        AND version.amount_cents = head.amount_cents AND version.platform <=> head.platform AND version.due_day = head.due_day
        AND COALESCE(version.valid_until, version.due_day) = head.end_day
        AND version.extra_hash <=> head.extra_hash AND version.document_hash <=> head.document_hash AS facts,
      done.seq IS NOT NULL AND done.state = head.state AND done.reason_code <=> head.reason_code
        AND done.settled_cents = head.settled_cents AND done.returned_cents = head.returned_cents
        AND done.parts_settled = head.parts_settled
        AND NOT EXISTS (SELECT 1 FROM expected_changes newer
          WHERE newer.expected_seq = head.seq AND newer.sequence > head.sequence) AS history,
      head.is_cancelled = COALESCE((SELECT is_cancelled FROM expected_cancellations one
        WHERE one.expected_seq = head.seq ORDER BY one.seq DESC LIMIT 1), 0) AS cancelled
    FROM expected_payments head
    LEFT JOIN expected_versions version ON version.seq = head.version_seq
    LEFT JOIN expected_changes done ON done.expected_seq = head.seq AND done.sequence = head.sequence
    WHERE head.seq IN (${sql.join(seqs)})`.execute(snapshot);
  return rows.flatMap(({ id, facts, history, cancelled }) => [
    ...(facts ? [] : [{ id, says: 'its row has not the facts of its newest version' }]),
    ...(history ? [] : [{ id, says: 'its row has not the state of its newest change' }]),
    ...(cancelled ? [] : [{ id, says: 'its row does not say whether it is cancelled' }]),
  ]);
}

/** Reports payments whose parts sum to more than their amount, by rules and by people; a correction may have lowered it since. */
async function verifyParts(
  snapshot: Transaction<Database>,
  { standing, payments }: Cluster,
  report: ReportBreak,
): Promise<void> {
  const matched = [...Map.groupBy(standing, (row) => row.transaction_seq)].flatMap(([seq, parts]) => {
    const payment = payments.get(seq);
    const cents = parts.reduce((sum, part) => sum + part.amount_cents, 0n);
    return payment && cents > payment.facts.amountCents ? [{ seq, id: payment.id, cents }] : [];
  });
  if (matched.length === 0) return;
  const seqs = matched.map(({ seq }) => seq);
  const rows = await snapshot
    .selectFrom('corrections')
    .select('transaction_seq')
    .where('transaction_seq', 'in', seqs)
    .execute();
  const corrected = new Set(rows.map((row) => row.transaction_seq));
  for (const { seq, id, cents } of matched) {
    if (corrected.has(seq)) continue;
    const says = `${formatAmount(cents)} of it is matched, which is more than its amount`;
    report({ scope: id, transactionId: id, says });
  }
}
