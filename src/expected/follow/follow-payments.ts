/**
 * The follower: it decides which payments are which expected payments, and the state of each. Start reading expected/ here.
 *
 * In: rows of `expected_work`, which writers leave in their own transactions (a transaction that changed once anything is expected, an
 * expected payment, days that were proven), and the time: an expected payment whose end is over, a receipt that is nobody's for 24 hours. Out: matches and
 * their withdrawals, candidates, states with their history, mismatches; all about one cluster (load-cluster.ts) in one transaction,
 * which deletes the work.
 *
 * All that it writes depends on the facts at its commit alone (decide/), so work may be repeated, joined and done in any order. A fault
 * of it stops no booking: the work stays, and one piece that fails is deferred alone.
 *
 * One process follows at a time: the loop holds a lease, and each transaction locks the lease's row and reads its holder. A process
 * that lost it without knowing waits there, reads that, and decides nothing.
 */
import { sql, type Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { isDatabaseFault } from '../../database/open/explain-failure.ts';
import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { expectPayments } from '../../ledger/journal/read-policies.ts';
import { describeError } from '../../log.ts';
import { expectedWork } from '../../metrics/metrics.ts';
import { bisect } from '../../runtime/bisect.ts';
import { createWakeSignal, runWorkerLoop } from '../../runtime/wake-signal.ts';
import { findReceipts, moveReceipts, selectReceiptsDue } from './find-receipts.ts';
import { loadCluster } from './load-cluster.ts';
import { type Written, writeDecisions } from './write-decisions.ts';

/** Decisions are made within a second of the commit. */
const POLL_MS = 500;
const LEASE_MS = 15_000;
const WORK_MAX = 500;
/** How long a piece of work that failed waits. */
const RETRY_MS = 60_000;

/** A row of `expected_work`, or an expected payment or a receipt whose time has come. */
type Work = {
  seq: number | null;
  transaction_seq: number | null;
  expected_seq: number | null;
  from_day: string | null;
  to_day: string | null;
};
const NOTHING: Work = { seq: null, transaction_seq: null, expected_seq: null, from_day: null, to_day: null };

/** Decides until the signal. Any number of processes may run it; the lease admits one. */
export async function followPayments(context: Context): Promise<void> {
  await runWorkerLoop({
    name: 'expected',
    hasWork: () => context.poll(() => selectDue(context, context.clock.now())),
    work: async () => (await claimFollowing(context)) && (await decideSome(context)),
    wakeUp: createWakeSignal(context.timers),
    idleMs: POLL_MS,
    context,
  });
}

/** Decides all that is due now, as the follower does, and takes its lease. For commands and tests. */
export async function decideAll(context: Context): Promise<void> {
  while (await claimFollowing(context)) if (!(await decideSome(context))) return;
}

function selectDue(context: Context, now: Date) {
  const { db } = context;
  return [
    selectReceiptsDue(context, now),
    db.selectFrom('expected_work').select('seq').where('due_at', '<=', now),
    db.selectFrom('expected_payments').select('seq').where('look_at', '<=', now),
  ];
}

/** Claims or renews the lease. The lease of a process that died expires. @returns whether this process follows. */
async function claimFollowing(context: Context): Promise<boolean> {
  const now = context.clock.now();
  const result = await context.db
    .updateTable('expected_following')
    .set({ holder: context.holder, lease_until: new Date(now.getTime() + LEASE_MS) })
    .where('id', '=', 1)
    .where((eb) =>
      eb.or([eb('holder', '=', context.holder), eb('lease_until', 'is', null), eb('lease_until', '<', now)]),
    )
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** @returns whether there may be more to do. */
async function decideSome(context: Context): Promise<boolean> {
  const now = context.clock.now();
  const receipts = await findReceipts(context, now);
  const paid = receipts?.seqs.map((seq) => ({ ...NOTHING, transaction_seq: seq })) ?? [];
  const work: Work[] = [...(await readWork(context.db, now)), ...paid];
  // the first one is decided once each payment leaves work
  if (work.some(({ expected_seq }) => expected_seq !== null)) await expectPayments(context);
  const decide = async (some: Work[]): Promise<Written[]> => {
    const written = await decideTogether(context, some);
    if (written === undefined) return [];
    expectedWork.inc({ outcome: 'decided' }, some.length);
    return [written];
  };
  const written =
    work.length === 0
      ? []
      : await bisect(work, decide, {
          isSplittable: (error) => !isDatabaseFault(error),
          toResult: (error, one) => defer(context, error, one),
        });
  if (receipts) await moveReceipts(context, receipts);
  if (written.some(({ mayAlert }) => mayAlert)) context.wakeUps.alerts.notify();
  if (written.some(({ callbacks }) => callbacks > 0)) context.wakeUps.callbacks.notify();
  return work.length > 0 || receipts !== undefined;
}

async function readWork(db: Reader, now: Date): Promise<Work[]> {
  const columns = ['seq', 'transaction_seq', 'expected_seq', 'from_day', 'to_day'] as const;
  const left = await db
    .selectFrom('expected_work')
    .select(columns)
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .orderBy('seq')
    .limit(WORK_MAX)
    .execute();
  if (left.length === WORK_MAX) return left;
  const due = await db
    .selectFrom('expected_payments')
    .select('seq')
    .where('look_at', '<=', now)
    .orderBy('look_at')
    .limit(WORK_MAX - left.length)
    .execute();
  return [...left, ...due.map(({ seq }) => ({ ...NOTHING, expected_seq: seq }))];
}

/** @returns undefined where another process follows. */
async function decideTogether(context: Context, work: Work[]): Promise<Written | undefined> {
  return await transact(
    context.db,
    async (trx) => {
      if (!(await lockFollowing(context, trx))) return undefined;
      await spreadDays(context, trx, work);
      const seeds = {
        expected: work.flatMap(({ expected_seq }) => expected_seq ?? []),
        payments: work.flatMap(({ transaction_seq }) => transaction_seq ?? []),
      };
      return await decideSeeds(
        context,
        trx,
        seeds,
        work.flatMap(({ seq }) => seq ?? []),
      );
    },
    { retryDuplicates: true },
  );
}

/** Decides one expected payment at once, in the caller's transaction: for the preview of what a person does to it. */
export async function decideOne(context: Context, seq: number): Promise<void> {
  await transact(context.db, (trx) => decideSeeds(context, trx, { expected: [seq], payments: [] }, []));
}

async function decideSeeds(
  context: Context,
  trx: Transaction<Database>,
  seeds: { expected: number[]; payments: number[] },
  work: number[],
): Promise<Written> {
  const cluster = await loadCluster(context, trx, seeds);
  const written = await writeDecisions(context, trx, cluster);
  await deleteWork(trx, { done: [...work, ...cluster.work], decided: [...cluster.expected.keys()] });
  return written;
}

/**
 * Deletes work that is done, and other work for what was decided with it. Work for an expected payment is left under its lock, so it
 * was there before the facts were read.
 */
async function deleteWork(
  trx: Transaction<Database>,
  { done, decided }: { done: number[]; decided: number[] },
): Promise<void> {
  if (done.length > 0) await trx.deleteFrom('expected_work').where('seq', 'in', done).execute();
  if (decided.length > 0) await trx.deleteFrom('expected_work').where('expected_seq', 'in', decided).execute();
}

/** Locks the lease's row until the end of the transaction. @returns whether this process still holds it. */
async function lockFollowing({ holder }: Context, trx: Transaction<Database>): Promise<boolean> {
  const row = await trx
    .selectFrom('expected_following')
    .select('holder')
    .where('id', '=', 1)
    .forUpdate()
    .executeTakeFirst();
  return row?.holder === holder;
}

/** Leaves work for each expected payment that lacked a day which is proven now: within the database, there may be any number. */
async function spreadDays(context: Context, trx: Transaction<Database>, work: Work[]): Promise<void> {
  const now = context.clock.now();
  for (const { from_day, to_day } of work) {
    if (from_day === null || to_day === null) continue;
    await sql`INSERT INTO expected_work (expected_seq, created_at, due_at) SELECT seq, ${now}, ${now} FROM expected_payments
      WHERE last_lack >= ${from_day} AND first_lack <= ${to_day}`.execute(trx);
  }
}

/**
 * A piece of work that fails by itself must not stop the others: it is tried again later. An end that is over becomes work too, whose
 * age shows it.
 */
async function defer(context: Context, error: unknown, { seq, ...about }: Work): Promise<Written> {
  const now = context.clock.now();
  const until = new Date(now.getTime() + RETRY_MS);
  expectedWork.inc({ outcome: 'failed' });
  context.log.error(
    { error: describeError(error), ...about },
    'an expected payment could not be decided; it is tried again in a minute',
  );
  if (seq !== null)
    await context.db.updateTable('expected_work').set({ due_at: until }).where('seq', '=', seq).execute();
  else
    await transact(context.db, async (trx) => {
      await trx
        .insertInto('expected_work')
        .values({ ...about, created_at: now, due_at: until })
        .execute();
      if (about.expected_seq !== null)
        await trx
          .updateTable('expected_payments')
          .set({ look_at: null })
          .where('seq', '=', about.expected_seq)
          .execute();
    });
  return { mayAlert: false, callbacks: 0 };
}
