import { type RawBuilder, sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { type Calendar, DAY_MS } from '../domain/calendar.ts';
import { webhookIdOf } from '../domain/ids.ts';
import { isOfExpectedPayment, UNRESOLVED_STATES } from '../domain/mismatch.ts';
import { formatAmount } from '../domain/money.ts';
import { concernedDay, concernsDays, type DayRange } from './concerns-day.ts';
import { CONCERNED_PLATFORM, concernsPlatform } from './concerns-platform.ts';
import { stakeInSql } from './stake.ts';

/** The orders of a list beside the newest first: the longest open first, or the most at stake. */
export const MISMATCH_SORTS = ['age', 'at_stake'] as const;

export type MismatchQuery = {
  /** `unresolved`: open or acknowledged. */
  state?: string | undefined;
  /** The scope of its alert. */
  cause?: string | undefined;
  kind?: string | undefined;
  severity?: string | undefined;
  transactionId?: string | undefined;
  /** The id of its owner; `none`: those without one. */
  owner?: string | undefined;
  /** Days that it has been open, at least. */
  age?: number | undefined;
  ids?: readonly string[] | undefined;
  sort?: (typeof MISMATCH_SORTS)[number] | undefined;
  /** Only those that a person resolved while the evidence is the same. */
  decided?: boolean | undefined;
  /** Only those of the baseline. */
  baseline?: boolean | undefined;
  /** Only those that concern this platform, alone or among all. */
  platform?: string | undefined;
  limit: number;
  after?: number | undefined;
  /** Only those that concern these days: see `concernedDay`. */
} & DayRange;

/** A mismatch as the API shows it. */
export type PresentedMismatch = Awaited<ReturnType<typeof listMismatches>>[number];

/** The amount of its transaction, which pages show beside what is at stake; null where it is about none, or about several. */
export function transactionAmountOf(mismatch: Pick<PresentedMismatch, 'transaction_id' | 'amount'>): string | null {
  return mismatch.transaction_id === null ? null : mismatch.amount;
}

type Reading = Pick<Context, 'db' | 'clock' | 'calendar'>;

/** Lists matching mismatches, the newest first, or in the order that the query names. */
export async function listMismatches({ db, clock, calendar }: Reading, query: MismatchQuery) {
  const now = clock.now();
  let select = paginate(selectMismatches(db), query).limit(query.limit);
  if (query.state === 'unresolved') select = select.where('mismatches.state', 'in', UNRESOLVED_STATES);
  else if (query.state !== undefined) select = select.where('mismatches.state', '=', query.state);
  if (query.kind !== undefined) select = select.where('mismatches.kind', '=', query.kind);
  if (query.severity !== undefined) select = select.where('mismatches.severity', '=', query.severity);
  if (query.transactionId !== undefined) select = select.where('mismatches.transaction_id', '=', query.transactionId);
  const { owner, age, cause, ids } = query;
  // SQL has no empty list
  if (ids !== undefined) select = select.where('mismatches.id', 'in', ids.length > 0 ? ids : ['']);
  if (owner === 'none') select = select.where('mismatches.owner', 'is', null);
  else if (owner !== undefined) select = select.where('mismatches.owner', '=', owner);
  if (age !== undefined) select = select.where('mismatches.opened_at', '<=', new Date(now.getTime() - age * DAY_MS));
  if (cause !== undefined)
    select = select.where('mismatches.seq', 'in', (eb) =>
      eb.selectFrom('mismatch_causes').select('mismatch_seq').where('alert_scope', '=', cause),
    );
  if (query.decided) select = select.where('kept_scope', 'is not', null).where('resolution', '=', 'by_hand');
  if (query.baseline) select = select.where('mismatches.baseline', '=', 1);
  const { from, to, platform } = query;
  if ((from ?? to) !== undefined) select = select.where(concernsDays(calendar, { from, to }));
  if (platform !== undefined) select = select.where(concernsPlatform(platform));
  return (await select.execute()).map((row) => present(row, calendar, now));
}

export async function findMismatch(
  { db, clock, calendar }: Reading,
  id: string,
): Promise<PresentedMismatch | undefined> {
  const row = await selectMismatches(db).where('mismatches.id', '=', id).executeTakeFirst();
  return row && present(row, calendar, clock.now());
}

/** Orders a list, and begins it after the row that the page before ended with, by what that row has now. */
function paginate(select: ReturnType<typeof selectMismatches>, { sort, after }: MismatchQuery) {
  if (sort === undefined) {
    const sorted = select.orderBy('mismatches.seq', 'desc');
    return after === undefined ? sorted : sorted.where('mismatches.seq', '<', after);
  }
  const [key, isRising] =
    sort === 'age' ? [sql.ref('mismatches.opened_at'), true] : [sql`COALESCE(${stakeInSql()}, -1)`, false];
  const last = (of: RawBuilder<unknown>) => sql`(SELECT ${of} FROM mismatches WHERE seq = ${after})`;
  const beyond = sql.raw(isRising ? '>' : '<');
  const direction = isRising ? 'asc' : 'desc';
  return select
    .orderBy(key, direction)
    .orderBy('mismatches.seq', direction)
    .$if(after !== undefined, (sorted) =>
      sorted.where(sql<boolean>`(${key}, mismatches.seq) ${beyond} (${last(key)}, ${after})`),
    );
}

function selectMismatches(db: Reader) {
  return db
    .selectFrom('mismatches')
    .leftJoin('runs', 'runs.seq', 'mismatches.run_seq')
    .leftJoin('webhooks', 'webhooks.seq', 'mismatches.webhook_seq')
    .selectAll('mismatches')
    .select(['runs.id as run_id', 'webhooks.hash as webhook_hash', stakeInSql().as('stake_cents')])
    .select([concernedDay().as('concerned_day'), CONCERNED_PLATFORM.as('concerned_platform')]);
}

type Row = Awaited<ReturnType<ReturnType<typeof selectMismatches>['execute']>>[number];

function present(row: Row, calendar: Calendar, now: Date) {
  return {
    seq: row.seq,
    id: row.id,
    kind: row.kind,
    severity: row.severity,
    state: row.state,
    day: row.concerned_day ?? calendar.dayOf(row.opened_at),
    platform: row.concerned_platform,
    transaction_id: row.transaction_id,
    reference: row.reference,
    expected_payment_id: isOfExpectedPayment(row.kind) ? row.scope : null,
    at_stake: row.stake_cents === null ? null : formatAmount(row.stake_cents),
    amount: row.amount_cents === null ? null : formatAmount(row.amount_cents),
    expected: presentExpected(row),
    actual: row.actual === null ? null : (JSON.parse(row.actual) as unknown),
    run_id: row.run_id,
    webhook_id: row.webhook_hash && webhookIdOf(row.webhook_hash),
    opened_at: row.opened_at.toISOString(),
    acknowledged_at: row.acknowledged_at?.toISOString() ?? null,
    resolved_at: row.resolved_at?.toISOString() ?? null,
    resolution: row.resolution,
    note: row.note,
    reopened: row.reopened,
    baseline: row.baseline === 1,
    owner: row.owner,
    age_days: Math.floor(((row.resolved_at ?? now).getTime() - row.opened_at.getTime()) / DAY_MS),
  };
}

/** The evidence of `balance_differs` and `commission_not_agreed` leaves its platform to the scope. */
function presentExpected({ kind, scope, expected }: Pick<Row, 'kind' | 'scope' | 'expected'>): unknown {
  const value: unknown = expected === null ? null : JSON.parse(expected);
  if (kind === 'commission_not_agreed') return { platform: scope.slice('YYYY-MM-DD '.length), ...(value as object) };
  return kind === 'balance_differs' ? { platform: scope, ...(value as object) } : value;
}
