/** Rows that are no evidence and whose time is over. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Context } from '../context.ts';
import { dropWhere, RETENTION_BATCH_ROWS, type RetentionStep, walkRows } from '../database/retention-step.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { DAY_MS } from '../domain/calendar.ts';

/** Retentions in days that no variable sets: they are much longer than any use of the rows. */
export const FIXED_DAYS = {
  /** Expired secrets of merchants, expired sessions, and changes of address: the audit keeps who changed what. */
  access: 7,
  /** Hourly costs of senders of webhooks, and their last hit. */
  senders: 1,
  /** Activity of processes that have ended. */
  heartbeats: 1,
  /** Page rows of failed runs: such a run can be resumed for this long. */
  pages: 7,
  /** Sizes of each day: growth is measured over 30 days. */
  sizes: 100,
} as const;

export function endedRows(context: Context): RetentionStep[] {
  const { db, config } = context;
  const fixed = (
    name: keyof Database,
    days: number,
    condition: (before: Date) => RawBuilder<SqlBool>,
  ): RetentionStep => ({
    name,
    keepMs: days * DAY_MS,
    run: ({ before, write }) => dropWhere(db, name, condition(before), write),
  });
  return [
    attemptRetention(context),
    {
      name: 'job_ticks',
      setting: 'RETAIN_TICKS',
      keepMs: config.RETAIN_TICKS,
      run: (options) => dropTicks(context, options),
    },
    {
      name: 'alerts',
      setting: 'RETAIN_ALERTS',
      keepMs: config.RETAIN_ALERTS,
      run: (options) => dropAlerts(context, options),
    },
    fixed('merchant_secrets', FIXED_DAYS.access, (before) => sql`expires_at < ${before}`),
    fixed('merchant_address_changes', FIXED_DAYS.access, (before) => sql`asked_at < ${before}`),
    fixed('sessions', FIXED_DAYS.access, (before) => sql`expires_at < ${before}`),
    fixed(
      'senders',
      FIXED_DAYS.senders,
      (before) => sql`hour_at < ${before} AND (hit_at IS NULL OR hit_at < ${before})`,
    ),
    fixed('heartbeats', FIXED_DAYS.heartbeats, (before) => sql`seen_at < ${before}`),
    fixed('size_days', FIXED_DAYS.sizes, (before) => sql`day < ${context.calendar.dayOf(before)}`),
    fixed(
      'run_page_rows',
      FIXED_DAYS.pages,
      (before) => sql`window_seq IN (
      SELECT run_windows.seq FROM run_windows JOIN runs ON runs.seq = run_windows.run_seq
      WHERE runs.state = 'failed' AND runs.finished_at < ${before})`,
    ),
  ];
}

/** Attempts of delivered and failed callbacks. Those of open callbacks stay. */
function attemptRetention({ db, config }: Context): RetentionStep {
  return {
    name: 'callback_attempts',
    setting: 'RETAIN_ATTEMPTS',
    keepMs: config.RETAIN_ATTEMPTS,
    run: ({ before, write }) =>
      walkRows({
        read: (after) =>
          db
            .selectFrom('callback_attempts')
            .innerJoin('callbacks', 'callbacks.seq', 'callback_attempts.callback_seq')
            .select(['callback_attempts.seq', 'callback_attempts.started_at', 'callbacks.state'])
            .where('callback_attempts.seq', '>', after)
            .orderBy('callback_attempts.seq')
            .limit(RETENTION_BATCH_ROWS)
            .execute(),
        isOld: (row) => row.started_at < before,
        async drop(old) {
          const seqs = old.filter(({ state }) => state === 'delivered' || state === 'failed').map(({ seq }) => seq);
          if (write && seqs.length > 0)
            await transact(db, (trx) => trx.deleteFrom('callback_attempts').where('seq', 'in', seqs).execute());
          return seqs.length;
        },
      }),
  };
}

type Options = { before: Date; write: boolean };

/** Each job's newest successful and newest failed tick stay: its state is read from them. */
async function* dropTicks({ db }: Context, { before, write }: Options): AsyncGenerator<number, void, undefined> {
  const ended = db
    .selectFrom('job_ticks')
    .select((eb) => ['job', eb.fn.max('due_at').as('due_at')])
    .where('finished_at', 'is not', null)
    .groupBy('job');
  const kept = [
    ...(await ended.where('error', 'is', null).execute()),
    ...(await ended.where('error', 'is not', null).execute()),
  ];
  const others = kept.map(({ job, due_at }) => sql` AND (job <> ${job} OR due_at <> ${due_at})`);
  yield* dropWhere(db, 'job_ticks', sql`due_at < ${before}${sql.join(others, sql``)}`, write);
}

async function* dropAlerts({ db }: Context, { before, write }: Options): AsyncGenerator<number, void, undefined> {
  if (!write) {
    yield* dropWhere(db, 'alerts', sql`ended_at < ${before}`, false);
    return;
  }
  for (;;) {
    const rows = await db
      .selectFrom('alerts')
      .select('seq')
      .where('ended_at', '<', before)
      .orderBy('ended_at')
      .limit(RETENTION_BATCH_ROWS)
      .execute();
    if (rows.length === 0) return;
    const seqs = rows.map((row) => row.seq);
    await transact(db, async (trx) => {
      await trx.deleteFrom('alert_sends').where('alert_seq', 'in', seqs).execute();
      await trx.deleteFrom('alerts').where('seq', 'in', seqs).execute();
    });
    yield rows.length;
  }
}
