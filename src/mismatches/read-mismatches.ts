import type { Reader } from '../database/reader.ts';
import type { Day } from '../domain/calendar.ts';
import { webhookIdOf } from '../domain/ids.ts';
import { formatAmount } from '../domain/money.ts';
import { concernsPlatform } from './concerns-platform.ts';
import { stakeInSql } from './stake.ts';

export type MismatchQuery = {
  /** `unresolved`: open or acknowledged. */
  state?: string | undefined;
  /** The scope of its alert. */
  cause?: string | undefined;
  kind?: string | undefined;
  severity?: string | undefined;
  transactionId?: string | undefined;
  /** Only those that a person resolved while the evidence is the same. */
  decided?: boolean | undefined;
  /** Only those opened from `from` to before `to`, in the order of their opening: without `after`. */
  opened?: { from: Date; to: Date } | undefined;
  /** Only those about a day itself: it changed after its report, or its list could not be proven. */
  aboutDay?: Day | undefined;
  /** Only those that concern this platform, alone or among all. */
  platform?: string | undefined;
  limit: number;
  after?: number | undefined;
};

/** A mismatch as the API shows it. */
export type PresentedMismatch = Awaited<ReturnType<typeof listMismatches>>[number];

/** The amount of its transaction, which pages show beside what is at stake; null where it is about none, or about several. */
export function transactionAmountOf(mismatch: Pick<PresentedMismatch, 'transaction_id' | 'amount'>): string | null {
  return mismatch.transaction_id === null ? null : mismatch.amount;
}

/** Lists matching mismatches, newest first. */
export async function listMismatches(db: Reader, query: MismatchQuery) {
  let select = selectMismatches(db).orderBy('mismatches.seq', 'desc').limit(query.limit);
  if (query.state === 'unresolved') select = select.where('mismatches.state', 'in', ['open', 'acknowledged']);
  else if (query.state !== undefined) select = select.where('mismatches.state', '=', query.state);
  if (query.kind !== undefined) select = select.where('mismatches.kind', '=', query.kind);
  if (query.severity !== undefined) select = select.where('mismatches.severity', '=', query.severity);
  if (query.transactionId !== undefined) select = select.where('mismatches.transaction_id', '=', query.transactionId);
  const { cause } = query;
  if (cause !== undefined)
    select = select.where('mismatches.seq', 'in', (eb) =>
      eb.selectFrom('mismatch_causes').select('mismatch_seq').where('alert_scope', '=', cause),
    );
  if (query.decided) select = select.where('kept_scope', 'is not', null).where('resolution', '=', 'by_hand');
  const { opened, aboutDay, platform } = query;
  if (opened !== undefined)
    select = select
      .where('mismatches.opened_at', '>=', opened.from)
      .where('mismatches.opened_at', '<', opened.to)
      .clearOrderBy()
      .orderBy('mismatches.opened_at', 'desc')
      .orderBy('mismatches.seq', 'desc');
  if (aboutDay !== undefined)
    select = select
      .where('mismatches.kind', 'in', ['closed_day_changed', 'list_unstable'])
      .where((eb) => eb.or([eb('mismatches.scope', '=', aboutDay), eb('mismatches.scope', 'like', `${aboutDay} %`)]));
  if (platform !== undefined) select = select.where(concernsPlatform(platform));
  if (query.after !== undefined) select = select.where('mismatches.seq', '<', query.after);
  return (await select.execute()).map(present);
}

export async function findMismatch(db: Reader, id: string): Promise<PresentedMismatch | undefined> {
  const row = await selectMismatches(db).where('mismatches.id', '=', id).executeTakeFirst();
  return row && present(row);
}

function selectMismatches(db: Reader) {
  return db
    .selectFrom('mismatches')
    .leftJoin('runs', 'runs.seq', 'mismatches.run_seq')
    .leftJoin('webhooks', 'webhooks.seq', 'mismatches.webhook_seq')
    .selectAll('mismatches')
    .select(['runs.id as run_id', 'webhooks.hash as webhook_hash', stakeInSql().as('stake_cents')]);
}

type Row = Awaited<ReturnType<ReturnType<typeof selectMismatches>['execute']>>[number];

function present(row: Row) {
  return {
    seq: row.seq,
    id: row.id,
    kind: row.kind,
    severity: row.severity,
    state: row.state,
    transaction_id: row.transaction_id,
    reference: row.reference,
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
  };
}

/** The evidence of `balance_differs` leaves its platform to the scope. */
function presentExpected({ kind, scope, expected }: Pick<Row, 'kind' | 'scope' | 'expected'>): unknown {
  const value: unknown = expected === null ? null : JSON.parse(expected);
  return kind === 'balance_differs' ? { platform: scope, ...(value as object) } : value;
}
