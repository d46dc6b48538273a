import { sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import type { Day } from '../../domain/calendar.ts';
import { UNRESOLVED_STATES } from '../../domain/mismatch.ts';
import { concernedDay } from '../../mismatches/concerns-day.ts';
import { CONCERNED_PLATFORM, concernsPlatform, IS_OF_ORDER } from '../../mismatches/concerns-platform.ts';
import { stakeInSql } from '../../mismatches/stake.ts';

/** A mismatch as it stood at the cut. */
export type ReportedMismatch = {
  id: string;
  kind: string;
  severity: string;
  state: string;
  openedAt: Date;
  resolvedAt: Date | null;
  resolution: string | null;
  note: string | null;
  transactionId: string | null;
  /** The day that it concerns, by the events up to the cut; null: that of `openedAt`. */
  day: Day | null;
  /** The platform that it concerns; null: all. */
  platform: string | null;
  /** Its own, else the first one of its order. */
  reference: string | null;
  /** The number of the order that it is about. */
  number: string | null;
  /** At stake at the cut: see `stakeInSql`. */
  stakeCents: bigint | null;
  /** The amount of its transaction, or of its order at the cut; null where it is about none, or about several. */
  transactionCents: bigint | null;
  expected: string | null;
  actual: string | null;
  runId: string | null;
};

/** A row of Divergências. `days`: of the file. */
export type MismatchRow = ReportedMismatch & { days: ReadonlySet<Day> };

/** The rows of Divergências; Resumo counts all, and the API lists them. Nobody reads a longer sheet. */
export const MISMATCHES_MAX = 20_000;

/** `versionSeq`: the newest version of an order at the cut; undefined where no order was known. `eventSeq`: the newest event. */
type Scope = {
  from: Date;
  to: Date;
  changeSeq: number;
  eventSeq: number;
  versionSeq: number | undefined;
  platform: string | undefined;
};

/** `own`: how many of them concern the days of the file; `ownStakeCents`: what is at stake in these. */
export type MismatchCount = {
  kind: string;
  severity: string;
  count: number;
  own: number;
  stakeCents: bigint;
  ownStakeCents: bigint;
};

/**
 * Counts all mismatches that were not resolved at the cut, and sums what is at stake, by kind and severity.
 * @param days of the file.
 */
export async function countMismatches(
  db: Reader,
  scope: Scope,
  days: { from: Day; to: Day },
): Promise<MismatchCount[]> {
  const opened = asOfChange<Date>('opened_at');
  const isOwn = sql`COALESCE(${concernedDay(scope.eventSeq)} BETWEEN ${days.from} AND ${days.to},
    ${opened} >= ${scope.from} AND ${opened} < ${scope.to})`;
  const rows = await selectAsOfCut(db, scope, [])
    .select(['mismatches.kind', 'mismatches.severity', (eb) => eb.fn.countAll<number>().as('count')])
    .select(sql<bigint>`CAST(COALESCE(SUM(${stakeAtCut()}), 0) AS SIGNED)`.as('stake_cents'))
    .select(sql<string>`SUM(${isOwn})`.as('own'))
    .select(sql<bigint>`CAST(COALESCE(SUM(CASE WHEN ${isOwn} THEN ${stakeAtCut()} END), 0) AS SIGNED)`.as('own_cents'))
    .where('change.state', '!=', 'resolved')
    .groupBy(['mismatches.kind', 'mismatches.severity'])
    .execute();
  return rows.map(({ kind, severity, count, own, stake_cents: stakeCents, own_cents: ownStakeCents }) => ({
    ...{ kind, severity, stakeCents, ownStakeCents },
    ...{ count: Number(count), own: Number(own) },
  }));
}

/**
 * Joins each mismatch that may have been unresolved at the cut to its newest change up to the cut. One without a change was
 * not open yet. A mismatch without a later change is as its row says: so it is unresolved now, or has a later change, or is
 * one of `more`. Each is read through an index; a condition on the changes alone reads every mismatch that there ever was.
 */
function selectAsOfCut(
  db: Reader,
  { changeSeq, platform }: Pick<Scope, 'changeSeq' | 'platform'>,
  more: Pick<Scope, 'from' | 'to'>[],
) {
  const unresolved = db.selectFrom('mismatches').select('seq').where('state', 'in', UNRESOLVED_STATES);
  const changed = db.selectFrom('mismatch_changes').select('mismatch_seq as seq').where('seq', '>', changeSeq);
  let candidates = unresolved.union(changed);
  for (const { from, to } of more)
    candidates = candidates.union(
      db.selectFrom('mismatches').select('seq').where('opened_at', '>=', from).where('opened_at', '<', to),
    );
  return db
    .selectFrom(candidates.as('candidates'))
    .innerJoin('mismatches', 'mismatches.seq', 'candidates.seq')
    .innerJoin('mismatch_changes as change', (join) =>
      join.onRef('change.mismatch_seq', '=', 'mismatches.seq').on(
        'change.seq',
        '=',
        sql<number>`(SELECT MAX(c.seq) FROM mismatch_changes c
          WHERE c.mismatch_seq = mismatches.seq AND c.seq <= ${changeSeq})`,
      ),
    )
    .$if(platform !== undefined, (query) => query.where(concernsPlatform(platform ?? '')));
}

/** Counts the same by the platform that they concern; null: all platforms. */
export async function countMismatchesByPlatform(
  db: Reader,
  changeSeq: number,
): Promise<{ platform: string | null; count: number }[]> {
  const rows = await selectAsOfCut(db, { changeSeq, platform: undefined }, [])
    .select([CONCERNED_PLATFORM.as('platform'), (eb) => eb.fn.countAll<number>().as('count')])
    .where('change.state', '!=', 'resolved')
    .groupBy('platform')
    .execute();
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

/** Counts the rows of `readMismatches`, and adds up each column of money, in the database. */
export async function sumMismatches(
  db: Reader,
  scope: Scope,
): Promise<{ rows: number; stakeCents: bigint; transactionCents: bigint }> {
  const sum = await db
    .selectFrom(
      selectReported(db, scope)
        .select([stakeAtCut().as('stake'), amountOf(scope).as('amount')])
        .as('reported'),
    )
    .select((eb) => [
      eb.fn.countAll<number>().as('rows'),
      sql<string | null>`SUM(stake)`.as('stake'),
      sql<string | null>`SUM(amount)`.as('amount'),
    ])
    .executeTakeFirstOrThrow();
  return {
    rows: Number(sum.rows),
    stakeCents: BigInt(sum.stake ?? 0),
    transactionCents: BigInt(sum.amount ?? 0),
  };
}

/** Mismatches not resolved at the cut, and those opened from `from` to before `to`, oldest first. */
export async function readMismatches(db: Reader, scope: Scope): Promise<ReportedMismatch[]> {
  const rows = await selectReported(db, scope)
    .leftJoin('runs', (join) => join.on('runs.seq', '=', asOfChange('run_seq')))
    .select([
      'mismatches.id',
      'mismatches.kind',
      'mismatches.severity',
      'mismatches.transaction_id as transactionId',
      concernedDay(scope.eventSeq).as('day'),
      CONCERNED_PLATFORM.as('platform'),
      sql<string | null>`CASE WHEN ${IS_OF_ORDER} THEN
        (SELECT e.number FROM expected_payments e WHERE e.id = mismatches.scope) END`.as('number'),
      referenceOf(scope).as('reference'),
      'runs.id as runId',
      'change.state',
      'change.at',
      'change.resolution',
      'change.note',
      asOfChange<Date>('opened_at').as('openedAt'),
      stakeAtCut().as('stake_cents'),
      amountOf(scope).as('transaction_cents'),
      asOfChange<string | null>('expected').as('expected'),
      asOfChange<string | null>('actual').as('actual'),
    ])
    .execute();
  return rows.map(({ at, stake_cents: stakeCents, transaction_cents: transactionCents, ...row }) => ({
    ...row,
    ...{ stakeCents, transactionCents },
    resolvedAt: row.state === 'resolved' ? at : null,
  }));
}

function selectReported(db: Reader, scope: Scope) {
  return selectAsOfCut(db, scope, [scope])
    .where((eb) =>
      eb.or([
        eb('change.state', '!=', 'resolved'),
        eb.and([eb(asOfChange('opened_at'), '>=', scope.from), eb(asOfChange('opened_at'), '<', scope.to)]),
      ]),
    )
    .orderBy('mismatches.seq')
    .limit(MISMATCHES_MAX);
}

/** A value from the change, as of the cut. Changes from before they stored evidence give the present value. */
function asOfChange<T>(column: 'opened_at' | 'amount_cents' | 'expected' | 'actual' | 'run_seq') {
  const [then, now] = [sql.ref(`change.${column}`), sql.ref(`mismatches.${column}`)];
  return sql<T>`CASE WHEN change.opened_at IS NULL THEN ${now} ELSE ${then} END`;
}

/** Returns what was at stake at the cut. */
function stakeAtCut() {
  const [amount_cents, expected, actual] = [asOfChange('amount_cents'), asOfChange('expected'), asOfChange('actual')];
  return stakeInSql({ kind: sql.ref('mismatches.kind'), amount_cents, expected, actual });
}

/** The newest version of the order at the cut. */
function selectVersion({ versionSeq = 0 }: Pick<Scope, 'versionSeq'>) {
  return sql`SELECT MAX(v.seq) FROM expected_versions v WHERE v.expected_id = mismatches.scope AND v.seq <= ${versionSeq}`;
}

function referenceOf(scope: Scope) {
  return sql<string | null>`CASE WHEN mismatches.reference IS NULL AND ${IS_OF_ORDER} THEN
    (SELECT k.value FROM expected_keys k WHERE k.version_seq = (${selectVersion(scope)}) AND k.kind = 'reference'
      ORDER BY k.seq LIMIT 1) ELSE mismatches.reference END`;
}

function amountOf(scope: Scope) {
  return sql<bigint | null>`CASE
    WHEN mismatches.transaction_id IS NOT NULL THEN CAST(${asOfChange<bigint | null>('amount_cents')} AS SIGNED)
    WHEN ${IS_OF_ORDER} THEN
      (SELECT w.amount_cents FROM expected_versions w WHERE w.seq = (${selectVersion(scope)})) END`;
}
