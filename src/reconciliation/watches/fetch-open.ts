/**
 * Fetches open transactions by their ids at certain ages (LIMITS): a payment whose webhook is lost is seen in
 * seconds instead of at the next reading of its day. A cashin that was only ever pending is an abandoned charge: after
 * the last age only readings of its day see it. Transactions that hold money or are being processed are fetched on.
 * Each fetch is claimed in the database, so that one replica makes it. A round makes at most ROUND_SHOWS_MAX fetches.
 */
import type { Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { FINAL_STATUSES } from '../../domain/statuses.ts';
import { fetchAndApply } from '../../ledger/apply/fetch-and-apply.ts';
import { describeError } from '../../log.ts';
import { transactionsApplied } from '../../metrics/metrics.ts';
import type { ProviderClient } from '../../provider/client.ts';
import { ProviderError } from '../../provider/provider-error.ts';
import { blocksAllRequests } from '../../provider/schedule-requests.ts';
import { createWakeSignal, runWorkerLoop } from '../../runtime/wake-signal.ts';

const ROUND_MS = 5_000;
/** At most 300 shows a minute and replica: where more are due, the readings of their days see them first. */
const ROUND_SHOWS_MAX = 25;
/** Shows of a round reserved for what holds money or is being processed, however long unpaid charges have waited. */
const MONEY_SHOWS_MAX = 20;
const SHOWS_IN_FLIGHT = 4;
export const LEASE_MS = 120_000;
const SCHEDULE_ROWS_MAX = 1_000;
/** Old transactions found together are spread over rounds: they take a fifth of the shows, fresh ones the rest. */
const OLD_ROUND_MS = 5 * ROUND_MS;
/** How often to search for old ones: they appear at the start, after a backfill, and when they open again. */
const SCHEDULE_OLD_EVERY_MS = 3_600_000;
const REFUSED_KEY_MS = 60_000;

type Open = { seq: number; id: string; status: string; operation: string; createdWall: string };

/** The worker loop. */
export async function fetchOpen(context: Context, client: ProviderClient): Promise<void> {
  const schedule = context.config.LIMITS.openAgesMs;
  let oldScheduledAt = Number.NEGATIVE_INFINITY;
  const isOldDue = () => context.timers.monotonicMs() - oldScheduledAt > SCHEDULE_OLD_EVERY_MS;
  const shower = client.withPriority('today');
  await runWorkerLoop({
    name: 'open transactions',
    wakeUp: createWakeSignal(context.timers),
    idleMs: ROUND_MS,
    context,
    hasWork: async () =>
      isOldDue() ||
      (await context.poll(() => [
        // first: with 100,000 open transactions the other one takes 70 ms, which a due fetch saves
        selectDue(context.db, context.clock.now()).select('transaction_seq'),
        selectUnscheduled(context, schedule),
      ])),
    work: async () => {
      const withOld = isOldDue();
      await scheduleOpenFetches(context, schedule, withOld);
      if (withOld) oldScheduledAt = context.timers.monotonicMs();
      await fetchDueOpen(context, shower, schedule);
      return false;
    },
  });
}

/**
 * When to fetch an open transaction next. Pure.
 * @param schedule ages in ms, rising. @param isCharge a cashin that was only ever pending: its fetches end.
 * @returns undefined when it is not fetched any more.
 */
export function nextFetchAt(createdAt: Date, now: Date, schedule: number[], isCharge: boolean): Date | undefined {
  const age = now.getTime() - createdAt.getTime();
  const next = schedule.find((step) => step > age);
  if (next !== undefined) return new Date(createdAt.getTime() + next);
  const last = schedule.at(-1) ?? 0;
  return isCharge ? undefined : new Date(now.getTime() + last);
}

/** Schedules open transactions that are not scheduled yet. @param withOld also those past the last age. */
export async function scheduleOpenFetches(context: Context, schedule: number[], withOld: boolean): Promise<void> {
  let old = 0;
  while (!context.signal.aborted) {
    const batch = await scheduleBatch(context, schedule, withOld, old);
    old += batch.old;
    if (batch.rows < SCHEDULE_ROWS_MAX) return;
  }
}

/** @param oldBefore how many old ones were scheduled before in this round. @returns how many were scheduled. */
async function scheduleBatch(
  context: Context,
  schedule: number[],
  withOld: boolean,
  oldBefore: number,
): Promise<{ rows: number; old: number }> {
  const now = context.clock.now();
  const last = schedule.at(-1) ?? 0;
  const since = sinceLastAge(context, schedule);
  let old = 0;
  const query = selectUnscheduled(context, schedule, withOld).limit(SCHEDULE_ROWS_MAX);
  const rows = (await query.execute()).flatMap((row) => {
    const at = nextOf(context, row, now, schedule);
    if (!at) return [];
    if (row.createdWall >= since) return [{ transaction_seq: row.seq, next_look_at: at }];
    // a transaction past the last age is fetched soon, and then as often as the schedule says
    const round = Math.floor((oldBefore + old++) / ROUND_SHOWS_MAX);
    const wait = last > 0 ? (round * OLD_ROUND_MS) % last : 0;
    return [{ transaction_seq: row.seq, next_look_at: new Date(now.getTime() + wait) }];
  });
  if (rows.length === 0) return { rows: 0, old };
  await context.db
    .insertInto('open_looks')
    .values(rows)
    .onDuplicateKeyUpdate((eb) => ({ next_look_at: eb.ref('open_looks.next_look_at') }))
    .execute();
  return { rows: rows.length, old };
}

/** Makes the due fetches of a round. @returns how many. */
export async function fetchDueOpen(context: Context, client: ProviderClient, schedule: number[]): Promise<number> {
  const claimed = await claimDue(context);
  const queue = [...claimed];
  const worker = async (): Promise<void> => {
    for (let open = queue.shift(); open && !context.signal.aborted; open = queue.shift()) {
      try {
        await fetchOne(context, client, open, schedule);
      } catch (error) {
        // an error that may apply to others ends the round: the rest is fetched when its lease expires
        if (!(error instanceof ProviderError) || blocksAllRequests(error)) queue.length = 0;
        await pauseAfter(context, error);
      }
    }
  };
  await Promise.all(Array.from({ length: SHOWS_IN_FLIGHT }, worker));
  return claimed.length;
}

/** Open transactions that are not scheduled, younger than the last age. @param withOld also older ones that are fetched on. */
function selectUnscheduled(context: Context, schedule: number[], withOld = false) {
  const since = sinceLastAge(context, schedule);
  return selectOpen(context.db)
    .leftJoin('open_looks', 'open_looks.transaction_seq', 'transactions.seq')
    .where('open_looks.transaction_seq', 'is', null)
    .where((eb) => {
      const isYoung = eb('transactions.created_wall', '>=', since);
      if (!withOld) return isYoung;
      return eb.or([isYoung, eb('transactions.operation', '=', 'cashout'), eb('transactions.status', '!=', 'pending')]);
    });
}

function sinceLastAge({ calendar, clock }: Context, schedule: number[]): string {
  return calendar.toWallTime(new Date(clock.now().getTime() - (schedule.at(-1) ?? 0)));
}

function selectDue(db: Reader, now: Date) {
  return db.selectFrom('open_looks').where('next_look_at', '<=', now);
}

function selectOpen(db: Reader) {
  return db
    .selectFrom('transactions')
    .select(['transactions.seq', 'transactions.id', 'transactions.status', 'transactions.operation'])
    .select('transactions.created_wall as createdWall')
    .where('transactions.status', 'not in', FINAL_STATUSES);
}

function nextOf(context: Context, open: Open, now: Date, schedule: number[]): Date | undefined {
  const isCharge = open.operation === 'cashin' && open.status === 'pending';
  return nextFetchAt(context.calendar.toInstant(open.createdWall), now, schedule, isCharge);
}

/** Claims due fetches by deferring the next one. Transactions that ended meanwhile are unscheduled. */
async function claimDue(context: Context): Promise<Open[]> {
  const now = context.clock.now();
  return await transact(context.db, async (trx) => {
    const money = await lockDue(trx, now, { limit: MONEY_SHOWS_MAX, onlyMoney: true });
    const seqs = [...money, ...(await lockDue(trx, now, { limit: ROUND_SHOWS_MAX - money.length, except: money }))];
    if (seqs.length === 0) return [];
    const open = await selectOpen(trx).where('transactions.seq', 'in', seqs).execute();
    const stillOpen = new Set(open.map((row) => row.seq));
    const over = seqs.filter((seq) => !stillOpen.has(seq));
    if (over.length > 0) await trx.deleteFrom('open_looks').where('transaction_seq', 'in', over).execute();
    await trx
      .updateTable('open_looks')
      .set({ next_look_at: new Date(now.getTime() + LEASE_MS) })
      .where('transaction_seq', 'in', seqs)
      .execute();
    return open;
  });
}

/** Locks the due rows that waited longest. @param onlyMoney those that hold money or are being processed. */
async function lockDue(
  trx: Transaction<Database>,
  now: Date,
  { limit, onlyMoney = false, except = [] }: { limit: number; onlyMoney?: boolean; except?: number[] },
): Promise<number[]> {
  let query = selectDue(trx, now)
    .select('transaction_seq')
    .orderBy('next_look_at')
    .limit(limit)
    .forUpdate()
    .skipLocked();
  if (except.length > 0) query = query.where('transaction_seq', 'not in', except);
  if (onlyMoney) {
    query = query.where((eb) =>
      eb.exists(
        eb
          .selectFrom('transactions')
          .select('transactions.seq')
          .whereRef('transactions.seq', '=', 'open_looks.transaction_seq')
          .where((one) => one.or([one('operation', '=', 'cashout'), one('status', '!=', 'pending')])),
      ),
    );
  }
  return (await query.execute()).map((row) => row.transaction_seq);
}

async function fetchOne(context: Context, client: ProviderClient, open: Open, schedule: number[]): Promise<void> {
  const { changed } = await fetchAndApply(context, client, open.id, { kind: 'show' }, { triesMax: 1 });
  transactionsApplied.inc({ source: 'show' }, changed.length);
  const now = await selectOpen(context.db).where('transactions.seq', '=', open.seq).executeTakeFirst();
  const next = now && nextOf(context, now, context.clock.now(), schedule);
  if (next) {
    await context.db
      .updateTable('open_looks')
      .set({ next_look_at: next })
      .where('transaction_seq', '=', open.seq)
      .execute();
  } else {
    await context.db.deleteFrom('open_looks').where('transaction_seq', '=', open.seq).execute();
  }
}

/** Pauses after an error of the provider. No alert: the runs alert of an outage or a refused key. */
async function pauseAfter(context: Context, error: unknown): Promise<void> {
  if (!(error instanceof ProviderError)) throw error;
  context.log.warn({ error: describeError(error) }, 'fetching an open transaction failed; retrying later');
  const ms = error.code === 'provider_unauthorized' ? REFUSED_KEY_MS : (error.retryAfterMs ?? 0);
  await context.timers.sleep(ms, { signal: context.signal }).catch(() => undefined);
}
