import { type Kysely, sql } from 'kysely';
import type { Database } from './tables.ts';

const DAY_MS = 86_400_000;
/** Small deletes hold locks briefly. An interrupted job continues the next night. */
const BATCH_ROWS = 1_000;

/** Retention in days of rows that are no evidence. The ledger, the inbox's rows, runs and the audit are kept forever. */
export const RETENTION_DAYS = {
  /** Attempts of delivered and failed callbacks. Those of open callbacks stay. */
  attempts: 90,
  ticks: 30,
  alerts: 180,
  /** Expired secrets of merchants, and expired sessions. */
  access: 7,
  /** Hourly costs of senders of webhooks, and their last hit. */
  senders: 1,
  /** What processes did that have ended since. */
  heartbeats: 1,
  /** Page rows of failed runs: such a run can be resumed for this long. */
  pages: 7,
} as const;

/**
 * Deletes rows that are older than their retention.
 * @returns how many rows of each table were deleted. Stops early on the signal.
 */
export async function applyRetention(
  db: Kysely<Database>,
  now: Date,
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const before = (days: number): Date => new Date(now.getTime() - days * DAY_MS);
  const inBatches = async (drop: () => Promise<number>): Promise<number> => {
    let dropped = 0;
    while (!signal.aborted) {
      const count = await drop();
      dropped += count;
      if (count < BATCH_ROWS) break;
    }
    return dropped;
  };
  return {
    callback_attempts: await dropAttempts(db, before(RETENTION_DAYS.attempts), signal),
    job_ticks: await inBatches(() => dropTicks(db, before(RETENTION_DAYS.ticks))),
    alerts: await inBatches(() => dropAlerts(db, before(RETENTION_DAYS.alerts))),
    merchant_secrets: await inBatches(() => dropExpired(db, 'merchant_secrets', before(RETENTION_DAYS.access))),
    sessions: await inBatches(() => dropExpired(db, 'sessions', before(RETENTION_DAYS.access))),
    senders: await inBatches(() => dropSenders(db, before(RETENTION_DAYS.senders))),
    heartbeats: await inBatches(() => dropHeartbeats(db, before(RETENTION_DAYS.heartbeats))),
    run_page_rows: await inBatches(() => dropPages(db, before(RETENTION_DAYS.pages))),
  };
}

/** Reads attempts in the order of their row numbers, up to the first batch without an old one. */
async function dropAttempts(db: Kysely<Database>, before: Date, signal: AbortSignal): Promise<number> {
  let dropped = 0;
  for (let after = 0; !signal.aborted; ) {
    const rows = await db
      .selectFrom('callback_attempts')
      .innerJoin('callbacks', 'callbacks.seq', 'callback_attempts.callback_seq')
      .select(['callback_attempts.seq', 'callback_attempts.started_at', 'callbacks.state'])
      .where('callback_attempts.seq', '>', after)
      .orderBy('callback_attempts.seq')
      .limit(BATCH_ROWS)
      .execute();
    const old = rows.filter((row) => row.started_at < before);
    const over = old.filter((row) => row.state === 'delivered' || row.state === 'failed').map((row) => row.seq);
    if (over.length > 0) await db.deleteFrom('callback_attempts').where('seq', 'in', over).execute();
    dropped += over.length;
    const last = rows.at(-1);
    if (!last || rows.length < BATCH_ROWS || old.length === 0) break;
    after = last.seq;
  }
  return dropped;
}

/** Each job's newest successful and newest failed tick stay: its state is read from them. */
async function dropTicks(db: Kysely<Database>, before: Date): Promise<number> {
  const ended = db
    .selectFrom('job_ticks')
    .select((eb) => ['job', eb.fn.max('due_at').as('due_at')])
    .where('finished_at', 'is not', null)
    .groupBy('job');
  const kept = [
    ...(await ended.where('error', 'is', null).execute()),
    ...(await ended.where('error', 'is not', null).execute()),
  ];
  const { numDeletedRows } = await db
    .deleteFrom('job_ticks')
    .where('due_at', '<', before)
    .where((eb) => eb.and(kept.map(({ job, due_at }) => eb.or([eb('job', '!=', job), eb('due_at', '!=', due_at)]))))
    .limit(BATCH_ROWS)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

async function dropAlerts(db: Kysely<Database>, before: Date): Promise<number> {
  const rows = await db
    .selectFrom('alerts')
    .select('seq')
    .where('ended_at', '<', before)
    .orderBy('ended_at')
    .limit(BATCH_ROWS)
    .execute();
  if (rows.length === 0) return 0;
  const seqs = rows.map((row) => row.seq);
  // sends first: if the job is interrupted between the two, the next one finds the alerts again
  await db.deleteFrom('alert_sends').where('alert_seq', 'in', seqs).execute();
  await db.deleteFrom('alerts').where('seq', 'in', seqs).execute();
  return rows.length;
}

async function dropExpired(
  db: Kysely<Database>,
  table: 'merchant_secrets' | 'sessions',
  before: Date,
): Promise<number> {
  const result =
    await sql`DELETE FROM ${sql.table(table)} WHERE expires_at < ${before} LIMIT ${sql.lit(BATCH_ROWS)}`.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}

async function dropSenders(db: Kysely<Database>, before: Date): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('senders')
    .where('hour_at', '<', before)
    .where((eb) => eb.or([eb('hit_at', 'is', null), eb('hit_at', '<', before)]))
    .limit(BATCH_ROWS)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

async function dropHeartbeats(db: Kysely<Database>, before: Date): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('heartbeats')
    .where('seen_at', '<', before)
    .limit(BATCH_ROWS)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

async function dropPages(db: Kysely<Database>, before: Date): Promise<number> {
  const windows = await db
    .selectFrom('run_page_rows')
    .innerJoin('run_windows', 'run_windows.seq', 'run_page_rows.window_seq')
    .innerJoin('runs', 'runs.seq', 'run_windows.run_seq')
    .select('run_page_rows.window_seq')
    .distinct()
    .where('runs.state', '=', 'failed')
    .where('runs.finished_at', '<', before)
    .limit(BATCH_ROWS)
    .execute();
  if (windows.length === 0) return 0;
  const seqs = windows.map((row) => row.window_seq);
  const { numDeletedRows } = await db
    .deleteFrom('run_page_rows')
    .where('window_seq', 'in', seqs)
    .limit(BATCH_ROWS)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
