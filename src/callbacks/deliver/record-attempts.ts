import { sql, type Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { caseBySeq } from '../../database/case-by-seq.ts';
import { compileOnce } from '../../database/compile-once.ts';
import { insertRows } from '../../database/insert-returning.ts';
import { runTogether } from '../../database/run-together.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { TEST_SOURCE, toSubject } from '../health/callback-sources.ts';
import type { ClaimedCallback } from '../queue/claimed-callback.ts';
import { readOpenCallbacks } from '../queue/read-open-callbacks.ts';
import { storeHeaders } from './attempt-headers.ts';
import { decideOutcome, type Outcome } from './decide-outcome.ts';
import { requestMails, requestNoHttpMails } from './request-mails.ts';
import type { Attempt } from './send-attempt.ts';
import { updateHealth } from './update-health.ts';

export type Recorded = {
  /** How many newer callbacks became due. */
  woken: number;
};

/**
 * Records attempts, in the order in which they ended: updates the callbacks and the health of their merchants, and makes
 * the callbacks due that waited for them. A failure counts only while this process holds the lease; a success always does.
 *
 * A COMMIT whose answer was lost may have succeeded. So a retry leaves out attempts that are recorded already: otherwise a
 * failure would count twice towards the breaker.
 * @param options.mayBeWritten an earlier call with these attempts ended in an error.
 */
export async function recordAttempts(
  context: Context,
  attempts: Attempt[],
  options: { mayBeWritten: boolean } = { mayBeWritten: false },
): Promise<Recorded> {
  let again = options.mayBeWritten;
  return transact(context.ledgerDb, async (trx) => {
    const fresh = again ? await removeRecorded(trx, attempts) : attempts;
    again = true;
    return fresh.length > 0 ? writeAttempts(context, trx, fresh) : { woken: 0 };
  });
}

async function writeAttempts(context: Context, trx: Transaction<Database>, attempts: Attempt[]): Promise<Recorded> {
  const now = context.clock.now();
  const [health] = await runTogether(trx, [(together) => updateHealth(together, attempts, now)]);
  const outcomes = attempts.map(({ callback, response }): Decided => {
    const state = health.get(callback.merchantSeq) ?? { holdsBack: false, failingSince: null };
    const tried = { ...callback, isTest: callback.source === TEST_SOURCE };
    const { CALLBACK_RETRY_SCHEDULE: schedule } = context.config;
    const cause = response.errorClass ?? 'http_status';
    return {
      callback,
      cause,
      outcome: decideOutcome(tried, response, state, { schedule, random: Math.random(), now }),
    };
  });
  const ended = outcomes.filter(({ outcome }) => outcome.state === 'delivered' || outcome.state === 'failed');
  const [, , , newer] = await runTogether(trx, [
    (together) => insertAttempts(together, attempts),
    (together) => writeDelivered(together, outcomes, now),
    (together) => writeUndelivered(context, together, outcomes, now),
    (together) => findNewer(context, together, ended),
  ]);
  const failed = outcomes.filter(({ outcome }) => outcome.state === 'failed');
  await requestMails(context, trx, failed, now);
  await requestNoHttpMails(context, trx, attempts, now);
  return { woken: newer.length === 0 ? 0 : await wake(trx, newer, now) };
}

/** A callback is in flight once at a time, so no two of its attempts began at the same instant. */
async function removeRecorded(trx: Transaction<Database>, attempts: Attempt[]): Promise<Attempt[]> {
  const rows = await trx
    .selectFrom('callback_attempts')
    .select(['callback_seq', 'started_at'])
    .where(
      'callback_seq',
      'in',
      attempts.map(({ callback }) => callback.seq),
    )
    .execute();
  const written = new Set(rows.map((row) => `${row.callback_seq} ${row.started_at.getTime()}`));
  return attempts.filter(({ callback, startedAt }) => !written.has(`${callback.seq} ${startedAt.getTime()}`));
}

type Decided = { callback: ClaimedCallback; outcome: Outcome; cause: string };

async function insertAttempts(trx: Transaction<Database>, attempts: Attempt[]): Promise<void> {
  const forgotten = await findForgotten(trx, attempts);
  const rows = attempts.map(({ callback, startedAt, merchantHeaders, response, host }) => ({
    callback_seq: callback.seq,
    number: callback.attempts + 1,
    started_at: startedAt,
    duration_ms: response.durationMs,
    response_status: response.status,
    error_class: response.errorClass,
    response_body: callback.transactionSeq !== null && forgotten.has(callback.transactionSeq) ? null : response.body,
    request_headers: storeHeaders(merchantHeaders, host),
  }));
  await insertRows(trx, 'callback_attempts', rows);
}

/** A merchant's answer about a forgotten person's transaction or order may name the person: its body is not stored. */
async function findForgotten(trx: Transaction<Database>, attempts: Attempt[]): Promise<Set<number>> {
  const answered = attempts
    .filter(({ response }) => response.body !== null)
    .map(({ callback }) => callback.transactionSeq);
  const seqs = [...new Set(answered)].filter((seq) => seq !== null);
  const transactions = seqs.filter((seq) => seq > 0);
  const rows =
    transactions.length === 0
      ? []
      : await trx
          .selectFrom('parties')
          .select('transaction_seq')
          .where('transaction_seq', 'in', transactions)
          .where('forgotten_at', 'is not', null)
          .execute();
  const orders = await findForgottenOrders(trx, seqs.filter((seq) => seq < 0).map(toSubject));
  return new Set([...rows.map((row) => row.transaction_seq), ...orders.map(toSubject)]);
}

async function findForgottenOrders(trx: Transaction<Database>, expectedSeqs: number[]): Promise<number[]> {
  if (expectedSeqs.length === 0) return [];
  const rows = await trx
    .selectFrom('expected_payments as head')
    .innerJoin('expected_versions', 'expected_versions.expected_id', 'head.id')
    .innerJoin('forgotten_people', 'forgotten_people.document_hash', 'expected_versions.document_hash')
    .select('head.seq')
    .where('head.seq', 'in', expectedSeqs)
    .execute();
  return rows.map(({ seq }) => seq);
}

async function writeDelivered(trx: Transaction<Database>, decided: Decided[], now: Date): Promise<void> {
  const seqs = decided.filter(({ outcome }) => outcome.state === 'delivered').map(({ callback }) => callback.seq);
  if (seqs.length === 0) return;
  await updateDelivered(trx, { seqs, now });
}

const updateDelivered = compileOnce((db, { seqs, now }: { seqs: number[]; now: Date }) =>
  db
    .updateTable('callbacks')
    .set((eb) => ({
      state: 'delivered',
      attempts: eb('attempts', '+', 1),
      first_failed_at: null,
      next_attempt_at: null,
      lease_holder: null,
      lease_until: null,
      delivered_at: now,
    }))
    .where('seq', 'in', seqs),
);

async function writeUndelivered(
  context: Context,
  trx: Transaction<Database>,
  decided: Decided[],
  now: Date,
): Promise<void> {
  const list = decided.filter(({ outcome }) => outcome.state !== 'delivered');
  if (list.length === 0) return;
  const bySeq = <T>(value: (one: Decided) => unknown) =>
    caseBySeq<T, Decided>(list, ({ callback }) => callback.seq, value);
  await trx
    .updateTable('callbacks')
    .set((eb) => ({
      state: bySeq<string>(({ outcome }) => outcome.state),
      step: bySeq<number>(({ callback, outcome }) => ('step' in outcome ? outcome.step : callback.step)),
      next_attempt_at: bySeq<Date | null>((one) => nextAttemptAt(one, now)),
      attempts: eb('attempts', '+', 1),
      first_failed_at: eb.fn.coalesce('first_failed_at', eb.val(now)),
      lease_holder: null,
      lease_until: null,
    }))
    .where(
      'seq',
      'in',
      list.map(({ callback }) => callback.seq),
    )
    .where('lease_holder', '=', context.holder)
    .execute();
}

function nextAttemptAt({ callback, outcome }: Decided, now: Date): Date | null {
  if (outcome.state === 'pending') return new Date(now.getTime() + outcome.delayMs);
  return outcome.state === 'held' ? callback.createdAt : null;
}

/**
 * Finds newer callbacks of these that ended. The search has no condition on when they are due or on their lease: a claim that
 * defers one, or ends the lease of a dead process, holds its lock, and `wake` waits for it. Successors leased by this process are
 * sent by it, or released under the lock of the callback recorded here.
 */
async function findNewer(context: Context, trx: Transaction<Database>, ended: Decided[]): Promise<number[]> {
  const done = ended.map(({ callback }) => callback);
  const transactionSeqs = [...new Set(done.map((callback) => callback.transactionSeq))].filter((seq) => seq !== null);
  if (transactionSeqs.length === 0) return [];
  const lowest = new Map(done.map((one) => [`${one.merchantSeq}:${one.transactionSeq}`, one.sequence]));
  const merchantSeqs = [...new Set(done.map((callback) => callback.merchantSeq))];
  const open = await readOpenCallbacks(trx, transactionSeqs, merchantSeqs);
  const newer = open.filter((one) => {
    const before = lowest.get(`${one.merchant_seq}:${one.transaction_seq}`);
    const waits = one.state === 'pending' && !one.first_failed_at && one.lease_holder !== context.holder;
    return waits && before !== undefined && one.sequence > before;
  });
  return newer.map((one) => one.seq);
}

/** Makes callbacks that wait due now. @returns how many. */
async function wake(trx: Transaction<Database>, seqs: number[], now: Date): Promise<number> {
  // an UPDATE would skip a locked row whose last committed version does not match its conditions
  await sql`SELECT seq FROM callbacks FORCE INDEX (PRIMARY) WHERE seq IN (${sql.join(seqs)}) ORDER BY seq FOR UPDATE`.execute(
    trx,
  );
  const woken = await trx
    .updateTable('callbacks')
    .set({ next_attempt_at: now })
    .where('seq', 'in', seqs)
    .where('state', '=', 'pending')
    .where('lease_holder', 'is', null)
    .where('next_attempt_at', '>', now)
    .executeTakeFirstOrThrow();
  return Number(woken.numUpdatedRows);
}
