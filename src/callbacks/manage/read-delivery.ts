import { type RawBuilder, sql } from 'kysely';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { HOUR_MS } from '../../domain/calendar.ts';
import { findOldAddress, OLD_ADDRESS_MS } from '../../merchants/old-address.ts';
import type { MerchantRow } from '../../merchants/read-merchants.ts';
import { IS_NO_TEST, IS_TEST, TEST_SOURCE } from '../health/callback-sources.ts';
import { boundCount, type Count, UNDELIVERED, type Undelivered } from '../health/count-undelivered.ts';
import { WHEN_IDLE } from '../health/when-idle.ts';
import { type CallbackRow, WAITS_FOR_EARLIER } from './read-callbacks.ts';
import { type AttemptSlot, sampleAttempts, summarizeAttempts } from './sample-attempts.ts';

export const HOURS_SHOWN = 24;
/** Callbacks of an hour are sampled from each quarter of it: the newest ones alone may all be waiting. */
const QUARTERS = 4;
const QUARTER_MAX = 12;
/** Callbacks of an hour whose attempts are read: enough for rates and percentiles. */
const SAMPLE_MAX = QUARTERS * QUARTER_MAX;
/** Undelivered callbacks of each state, and the newest delivered ones. */
const LIST_MAX = 50;
/** Undelivered callbacks before `allSince` whose attempts count too. */
export const OLDER_MAX = UNDELIVERED.length * LIST_MAX;
/** The newest callbacks; of a merchant that has no more in 24 hours, all attempts are counted. */
const NEWEST_MAX = 1_000;
/** The newest attempts to all merchants, among which the last delivery is sought: a replayed callback may be old. */
const RECENT_MAX = 2_000;
/** Counts end here, so that a long queue does not slow the page down. */
const COUNT_MAX = 10_000;
const ANSWER_CHARS_MAX = 300;

export type FailedAttempt = {
  at: Date;
  status: number | null;
  errorClass: string;
  callback: string;
  webhookId: string;
  /** The beginning of the answer, as the merchant's system wrote it. */
  body: string | null;
};
export type Delivery = {
  counts: Record<Undelivered, Count>;
  /** The last 24 hours, the oldest first: all attempts of the callbacks created since `allSince`, and of at most OLDER_MAX before that. */
  hours: AttemptSlot[];
  /** Undefined: the hours are of a sample of at most SAMPLE_MAX callbacks of each, and of those that wait or failed last. */
  allSince: Date | undefined;
  lastFailure: FailedAttempt | undefined;
  /** There may be a later one, of a replayed callback: no index has the times of attempts, and no success is worth a statement. */
  lastSuccessAt: Date | undefined;
  nextAttemptAt: Date | undefined;
  /** Why no time is planned for what is pending; undefined: one is, or nothing is sent to the merchant now. */
  unplanned: Unplanned | undefined;
};

/** One is sent at this moment; they are past events, sent when nothing else is; they wait for held ones of their transactions and orders. */
export const UNPLANNED = ['sending', 'backfill', 'earlier'] as const;
type Unplanned = (typeof UNPLANNED)[number];

/** Reads how callbacks reach a merchant: what waits, and the attempts of the last 24 hours. Tests and examples are left out. */
export async function readDelivery(context: Context, merchant: MerchantRow): Promise<Delivery> {
  const hour = Math.floor(context.clock.now().getTime() / HOUR_MS) * HOUR_MS;
  const starts = Array.from(
    { length: HOURS_SHOWN },
    (_, index) => new Date(hour - (HOURS_SHOWN - 1 - index) * HOUR_MS),
  );
  const allSince = await findAllSince(context, merchant.seq, starts);
  const [attempts, counts, next] = await Promise.all([
    readAttempts(context, merchant.seq, { starts, allSince }),
    readCounts(context, merchant.seq),
    readNextAttempt(context, merchant),
  ]);
  const failed = attempts.findLast((one) => one.error_class !== null);
  // what waits or failed has too large a share of `attempts`, and a replayed callback is of another hour
  const sampled = allSince ? [] : await sampleAttempts(context.db, starts, new Date(hour + HOUR_MS), merchant.seq);
  const enough = sampled.filter((one) => one.attempts >= SAMPLE_MAX);
  return {
    counts,
    hours: starts.map((start) => enough.find((one) => one.start === start) ?? summarize(start, attempts)),
    allSince,
    lastFailure: failed && {
      at: failed.started_at,
      status: failed.response_status,
      errorClass: failed.error_class ?? '',
      callback: `cb_${failed.callback_seq}`,
      ...(await readAnswer(context, failed)),
    },
    lastSuccessAt: attempts.findLast((one) => one.error_class === null)?.started_at,
    nextAttemptAt: next.at,
    unplanned: counts.pending.n > 0 ? next.unplanned : undefined,
  };
}

type Attempt = {
  callback_seq: number;
  number: number;
  started_at: Date;
  duration_ms: number;
  response_status: number | null;
  error_class: string | null;
};

/** Since when the newest callbacks were created, unless there are more within the hours. */
async function findAllSince({ db }: Context, merchantSeq: number, starts: Date[]): Promise<Date | undefined> {
  const { rows } = await sql<{ since: Date | null; count: number }>`SELECT MIN(created_at) AS since, COUNT(*) AS count
    FROM (${newestOf(merchantSeq)}) newest`.execute(db);
  const [{ since, count } = { since: null, count: 0 }] = rows;
  const hasAll = Number(count) < NEWEST_MAX || (since !== null && starts[0] !== undefined && since < starts[0]);
  return hasAll ? (since ?? starts[0]) : undefined;
}

function newestOf(merchantSeq: number): RawBuilder<unknown> {
  return sql`SELECT seq, created_at FROM callbacks
    WHERE merchant_seq = ${merchantSeq} ORDER BY created_at DESC LIMIT ${sql.lit(NEWEST_MAX)}`;
}

/** Attempts since the first hour, the oldest first: of callbacks created in each hour, of what is undelivered, and the last ones. */
async function readAttempts(
  { db }: Context,
  merchantSeq: number,
  { starts, allSince }: { starts: Date[]; allSince: Date | undefined },
): Promise<Attempt[]> {
  const limit = sql.lit(LIST_MAX);
  const partMs = HOUR_MS / QUARTERS;
  const parts = starts.flatMap((start) =>
    Array.from({ length: QUARTERS }, (_, index) => new Date(start.getTime() + index * partMs)),
  );
  const sampled = parts.map(
    (start) => sql`(SELECT seq FROM callbacks WHERE merchant_seq = ${merchantSeq} AND created_at >= ${start}
      AND created_at < ${new Date(start.getTime() + partMs)} ORDER BY created_at DESC LIMIT ${sql.lit(QUARTER_MAX)})`,
  );
  const hours = allSince === undefined ? sampled : [sql`(SELECT seq FROM (${newestOf(merchantSeq)}) newest)`];
  // what is retried may be older; of the held ones, the oldest is the probe
  const undelivered = UNDELIVERED.map(
    (state) => sql`(SELECT seq FROM callbacks WHERE merchant_seq = ${merchantSeq} AND state = ${state}
      ORDER BY next_attempt_at LIMIT ${limit})`,
  );
  // by callbacks_due, whose entries of one state and time are in the order of the rows
  const delivered = sql`(SELECT seq FROM callbacks WHERE merchant_seq = ${merchantSeq} AND state = 'delivered'
    AND next_attempt_at IS NULL ORDER BY seq DESC LIMIT ${limit})`;
  const succeeded = sql`(SELECT callbacks.seq FROM (SELECT seq, callback_seq, error_class FROM callback_attempts
    ORDER BY seq DESC LIMIT ${sql.lit(RECENT_MAX)}) recent STRAIGHT_JOIN callbacks ON callbacks.seq = recent.callback_seq
    WHERE merchant_seq = ${merchantSeq} AND error_class IS NULL AND ${IS_NO_TEST} ORDER BY recent.seq DESC LIMIT 1)`;
  const failed = sql`(SELECT last_failed_callback AS seq FROM merchants WHERE seq = ${merchantSeq})`;
  const { rows } = await sql<Attempt>`SELECT callback_seq, number, started_at, duration_ms, response_status, error_class
    FROM (${sql.join([...hours, ...undelivered, delivered, succeeded, failed], sql` UNION `)}) sample
    JOIN callback_attempts ON callback_seq = sample.seq JOIN callbacks ON callbacks.seq = sample.seq
    WHERE ${IS_NO_TEST} AND started_at >= ${starts[0]} ORDER BY started_at`.execute(db);
  return rows;
}

async function readAnswer({ db }: Context, { callback_seq: seq, number }: Attempt) {
  const row = await db
    .selectFrom('callback_attempts')
    .innerJoin('callbacks', 'callbacks.seq', 'callback_seq')
    .select(['webhook_id', 'response_body'])
    .where('callback_seq', '=', seq)
    .where('number', '=', number)
    .executeTakeFirstOrThrow();
  return { webhookId: row.webhook_id, body: row.response_body?.toString('utf8').slice(0, ANSWER_CHARS_MAX) || null };
}

function summarize(start: Date, all: Attempt[]): AttemptSlot {
  const end = new Date(start.getTime() + HOUR_MS);
  return { start, ...summarizeAttempts(all.filter(({ started_at: at }) => at >= start && at < end)) };
}

async function readCounts({ db }: Context, merchantSeq: number): Promise<Delivery['counts']> {
  const count = (state: string) => sql<number>`(SELECT COUNT(*) FROM (SELECT 1 FROM callbacks
    WHERE merchant_seq = ${merchantSeq} AND state = ${state} AND ${IS_NO_TEST} LIMIT ${sql.lit(COUNT_MAX + 1)}) few)`;
  const { rows } = await sql<Record<Undelivered, number>>`SELECT ${count('pending')} AS pending,
    ${count('held')} AS held, ${count('failed')} AS failed`.execute(db);
  const bound = (counted = 0) => boundCount(Number(counted), COUNT_MAX);
  return { pending: bound(rows[0]?.pending), held: bound(rows[0]?.held), failed: bound(rows[0]?.failed) };
}

/** Counts what still goes to the URL before, and returns until when; undefined where nothing does. */
export async function countToOldAddress(
  { db, clock }: Context,
  { seq, ...merchant }: MerchantRow,
): Promise<{ count: Count; endsAt: Date } | undefined> {
  const before = findOldAddress(merchant, clock.now());
  if (!before) return undefined;
  const isElsewhere = merchant.test_url === null ? sql`FALSE` : IS_TEST;
  const { rows } = await sql<{
    n: number;
  }>`SELECT COUNT(*) AS n FROM (SELECT 1 FROM callbacks WHERE merchant_seq = ${seq}
    AND state = 'pending' AND first_failed_at < ${before.until} AND NOT ${isElsewhere} LIMIT ${sql.lit(COUNT_MAX + 1)}) few`.execute(
    db,
  );
  const count = boundCount(Number(rows[0]?.n), COUNT_MAX);
  return count.n === 0 ? undefined : { count, endsAt: new Date(before.until.getTime() + OLD_ADDRESS_MS) };
}

/** When the next attempt is due: of a failing merchant whose callbacks are held, the probe. */
async function readNextAttempt(
  { db }: Context,
  merchant: MerchantRow,
): Promise<{ at?: Date | undefined; unplanned?: Unplanned }> {
  if (merchant.state !== 'enabled' || merchant.url === null) return {};
  if (merchant.breaker_opened_at !== null) return { at: merchant.probe_at ?? undefined };
  const pending = db
    .selectFrom('callbacks')
    .select('next_attempt_at')
    .where('merchant_seq', '=', merchant.seq)
    .where('state', '=', 'pending')
    .where(IS_NO_TEST)
    .orderBy('next_attempt_at')
    .limit(1);
  // a lease, and the recheck of what waits for an earlier one, are no plan
  const ready = pending.where('lease_holder', 'is', null).where(sql<boolean>`NOT ${WAITS_FOR_EARLIER}`);
  const leased = pending.where('lease_holder', 'is not', null).where('next_attempt_at', '<', WHEN_IDLE);
  // in one statement: between two, one that was sent wakes the next. A lease is sought only where no time is planned: no index has it
  const { rows } = await sql<{ at: Date | null; lease: Date | null; first: Date | null }>`SELECT at,
    CASE WHEN at < ${WHEN_IDLE} THEN NULL ELSE ${leased} END AS lease, ${pending} AS first FROM (SELECT ${ready} AS at) planned`.execute(
    db,
  );
  const [{ at, lease, first } = { at: null, lease: null, first: null }] = rows;
  if (at && at < WHEN_IDLE) return { at };
  if (lease) return { unplanned: 'sending' };
  if (at) return { unplanned: 'backfill' };
  // what was counted may have been sent since
  return { unplanned: first ? 'earlier' : 'sending' };
}

/** Whether a merchant's circuit breaker closed when this test was accepted. */
export async function closedBreaker(
  db: Reader,
  { source, delivered_at, merchant_id }: Pick<CallbackRow, 'source' | 'delivered_at' | 'merchant_id'>,
): Promise<boolean> {
  if (source !== TEST_SOURCE || delivered_at === null) return false;
  const closed = db.selectFrom('audit').select('seq').where('target', '=', merchant_id).where('at', '=', delivered_at);
  return (await closed.where('action', '=', 'merchant.breaker_closed').executeTakeFirst()) !== undefined;
}
