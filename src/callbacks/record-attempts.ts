import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { HEALTHY } from '../merchants/change-merchants.ts';
import type { ClaimedCallback } from './claim-callbacks.ts';
import { decideOutcome, isDelivered, type Outcome } from './decide-outcome.ts';
import { afterFailure, holdsBack, judgeHealth, type MerchantHealth, WELL } from './merchant-health.ts';
import { readOpenCallbacks } from './read-open-callbacks.ts';
import type { Answer } from './send-attempt.ts';

/** One try that was made and is still to be written down. */
export type Attempt = {
  callback: ClaimedCallback;
  startedAt: Date;
  requestHeaders: Record<string, string>;
  answer: Answer;
};

/** Something about a merchant that ops should know. */
export type MerchantTrouble = {
  kind: 'merchant_failing' | 'merchant_disabled';
  merchantId: string;
  since: Date;
};

/** @property woken how many newer callbacks may go now. */
export type Recorded = { troubles: MerchantTrouble[]; recovered: string[]; woken: number };

/**
 * Writes attempts down, in the order in which they ended: what becomes of each callback and of its merchant, and wakes
 * the callbacks that waited for them. A failure counts only while its lease is ours; a success always does.
 */
export async function recordAttempts(context: Context, attempts: Attempt[]): Promise<Recorded> {
  return transact(context.db, async (trx) => {
    const now = context.clock.now();
    const health = await foldHealth(trx, attempts, now);
    await insertAttempts(trx, attempts);
    const outcomes = attempts.map(({ callback, answer }): Decided => {
      const state = health.after.get(callback.merchantSeq) ?? { holdsBack: false, failingSince: null };
      const tried = { ...callback, isTest: callback.transactionSeq === null };
      const { CALLBACK_RETRY_SCHEDULE: schedule } = context.config;
      return { callback, outcome: decideOutcome(tried, answer, state, { schedule, random: Math.random(), now }) };
    });
    await writeDelivered(trx, outcomes, now);
    await writeUndelivered(context, trx, outcomes, now);
    const woken = await wakeNewer(trx, outcomes, now);
    return { troubles: health.troubles, recovered: health.recovered, woken };
  });
}

type Decided = { callback: ClaimedCallback; outcome: Outcome };
type AfterHealth = { holdsBack: boolean; failingSince: Date | null };
type Folded = { after: Map<number, AfterHealth>; troubles: MerchantTrouble[]; recovered: string[] };

/** Merchants are locked before callbacks, everywhere. One that only succeeded is locked only if it had been failing. */
async function foldHealth(trx: Transaction<Database>, attempts: Attempt[], now: Date): Promise<Folded> {
  const folded: Folded = { after: new Map(), troubles: [], recovered: [] };
  const byMerchant = Map.groupBy(attempts, ({ callback }) => callback.merchantSeq);
  const failed = [...byMerchant].filter(([, list]) => list.some((one) => !isDelivered(one.answer))).map(([seq]) => seq);
  const wanted = [...byMerchant.keys()];
  const rows = await trx
    .selectFrom('merchants')
    .selectAll()
    .where('seq', 'in', wanted)
    .where((eb) => eb.or([eb('failing_since', 'is not', null), ...(failed.length ? [eb('seq', 'in', failed)] : [])]))
    .orderBy('seq')
    .forUpdate()
    .execute();
  for (const row of rows) {
    const list = byMerchant.get(row.seq) ?? [];
    const health = list.reduce((before, attempt) => foldOne(before, attempt, now), toHealth(row));
    const isGone = list.some((one) => one.answer.errorClass === 'gone');
    const set = changeMerchant(row, health, { isGone, now }, folded);
    if (set) await trx.updateTable('merchants').set(set).where('seq', '=', row.seq).execute();
    const merged = { ...row, ...set };
    folded.after.set(row.seq, { holdsBack: holdsBack(merged), failingSince: health.failingSince });
  }
  return folded;
}

type MerchantFacts = {
  id: string;
  state: string;
  failures: number;
  failing_since: Date | null;
  breaker_opened_at: Date | null;
  probe_at: Date | null;
  warned_at: Date | null;
};

function toHealth(row: MerchantFacts): MerchantHealth {
  return {
    failures: row.failures,
    failingSince: row.failing_since,
    breakerOpenedAt: row.breaker_opened_at,
    probeAt: row.probe_at,
  };
}

// a test that fails is no sign of trouble, one that succeeds is one of health
function foldOne(health: MerchantHealth, { callback, answer }: Attempt, now: Date): MerchantHealth {
  if (isDelivered(answer)) return WELL;
  return callback.transactionSeq === null ? health : afterFailure(health, now);
}

function changeMerchant(
  row: MerchantFacts,
  health: MerchantHealth,
  facts: { isGone: boolean; now: Date },
  folded: Folded,
): object | undefined {
  if (facts.isGone && row.state !== 'disabled') {
    folded.troubles.push({ kind: 'merchant_disabled', merchantId: row.id, since: facts.now });
    return { ...toColumns(health), state: 'disabled', disabled_reason: 'its address answered 410 Gone' };
  }
  if (health === WELL) {
    if (row.warned_at) folded.recovered.push(row.id);
    return row.failing_since ? HEALTHY : undefined;
  }
  const judged = row.state === 'enabled' ? judgeHealth(health, facts.now) : 'none';
  if (judged === 'none') return toColumns(health);
  const since = health.failingSince ?? facts.now;
  if (judged === 'disable') {
    folded.troubles.push({ kind: 'merchant_disabled', merchantId: row.id, since });
    return { ...toColumns(health), state: 'disabled', disabled_reason: 'no attempt has succeeded for 5 days' };
  }
  if (row.warned_at === null) folded.troubles.push({ kind: 'merchant_failing', merchantId: row.id, since });
  return toColumns(health);
}

function toColumns(health: MerchantHealth) {
  return {
    failures: health.failures,
    failing_since: health.failingSince,
    breaker_opened_at: health.breakerOpenedAt,
    probe_at: health.probeAt,
  };
}

async function insertAttempts(trx: Transaction<Database>, attempts: Attempt[]): Promise<void> {
  const rows = attempts.map(({ callback, startedAt, requestHeaders, answer }) => ({
    callback_seq: callback.seq,
    number: callback.attempts + 1,
    started_at: startedAt,
    duration_ms: answer.durationMs,
    response_status: answer.status,
    error_class: answer.errorClass,
    response_body: answer.body,
    request_headers: JSON.stringify(requestHeaders),
  }));
  await trx.insertInto('callback_attempts').values(rows).execute();
}

async function writeDelivered(trx: Transaction<Database>, decided: Decided[], now: Date): Promise<void> {
  const seqs = decided.filter(({ outcome }) => outcome.state === 'delivered').map(({ callback }) => callback.seq);
  if (seqs.length === 0) return;
  await trx
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
    .where('seq', 'in', seqs)
    .execute();
}

async function writeUndelivered(
  context: Context,
  trx: Transaction<Database>,
  decided: Decided[],
  now: Date,
): Promise<void> {
  const list = decided.filter(({ outcome }) => outcome.state !== 'delivered');
  if (list.length === 0) return;
  const bySeq = <T>(value: (one: Decided) => unknown): RawBuilder<T> =>
    sql`CASE seq ${sql.join(
      list.map((one) => sql`WHEN ${one.callback.seq} THEN ${value(one)}`),
      sql` `,
    )} END`;
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
 * Makes the newer callbacks of what is done with due now. They are found without a condition on when they are due: a
 * claim that is about to put one off holds its lock, and this waits for it.
 */
async function wakeNewer(trx: Transaction<Database>, decided: Decided[], now: Date): Promise<number> {
  const done = decided
    .filter(({ outcome }) => outcome.state === 'delivered' || outcome.state === 'failed')
    .map(({ callback }) => callback);
  const transactionSeqs = [...new Set(done.map((callback) => callback.transactionSeq))].filter((seq) => seq !== null);
  if (transactionSeqs.length === 0) return 0;
  const lowest = new Map(done.map((one) => [`${one.merchantSeq}:${one.transactionSeq}`, one.sequence]));
  const merchantSeqs = [...new Set(done.map((callback) => callback.merchantSeq))];
  const open = await readOpenCallbacks(trx, transactionSeqs, merchantSeqs);
  const waiting = open.filter((one) => one.state === 'pending' && !one.first_failed_at && !one.lease_holder);
  const newer = waiting.filter((one) => {
    const before = lowest.get(`${one.merchant_seq}:${one.transaction_seq}`);
    return before !== undefined && one.sequence > before;
  });
  if (newer.length === 0) return 0;
  await trx
    .updateTable('callbacks')
    .set({ next_attempt_at: now })
    .where(
      'seq',
      'in',
      newer.map((one) => one.seq),
    )
    .where('state', '=', 'pending')
    .where('lease_holder', 'is', null)
    .where('next_attempt_at', '>', now)
    .execute();
  return newer.length;
}
