/**
 * One alert per root cause. Mismatches of a kind that one run finds have one cause. So have those that are found without a
 * run: they join the group of their kind and severity that was raised within the last hour and fires, else they open one,
 * named by the hour. So a storm pages once an hour, and an old mismatch that waits for a person hides no new one. An alert
 * ends with its last open mismatch.
 *
 * A mismatch joins under a share lock on its firing alert, and the alert ends under an exclusive one: so no mismatch joins
 * an alert that has just ended. The summary of a group is refreshed by the watch. A storm would otherwise count all of its
 * mismatches once for each, under the lock of one row.
 */
import { sql, type Transaction } from 'kysely';
import { endAlerts, raiseAlerts, updateAlertSummary } from '../alerts/raise-alerts.ts';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { type FoundMismatch, isOfExpectedPayment, type MismatchKind, type Severity } from '../domain/mismatch.ts';
import { maskText } from '../domain/person/mask-person.ts';
import type { AlertKind } from '../texts/alerts/alert-kinds.ts';
import { summarize } from '../texts/alerts/describe-alert.ts';
import { sumStakeInSql } from './stake.ts';

/** How long a group takes more mismatches. */
const GROUP_MS = 3_600_000;

export type RaisedMismatch = { seq: number; id: string; found: FoundMismatch; severity: Severity };
type Cause = { name: string; scope: string };
type RaisedCause = Cause & {
  name: MismatchKind;
  severity: Severity;
  isRun: boolean;
  /** The group fires: the watch refreshes what it counts. */
  isFiring: boolean;
  mismatches: [RaisedMismatch, ...RaisedMismatch[]];
};

/** Alerts mismatches that were just opened. The watch alerts those of the baseline, all together. */
export async function alertMismatches(trx: Transaction<Database>, opened: RaisedMismatch[], now: Date): Promise<void> {
  const mismatches = opened.filter((one) => !one.found.baseline);
  if (mismatches.length === 0) return;
  for (const cause of await findCauses(trx, mismatches, now)) {
    const isKnown = await joinCause(trx, cause);
    // a mismatch that is resolved at once never fires: its cause records that it was alerted
    const isResolved = cause.mismatches.every((one) => one.found.resolution !== undefined);
    if (cause.isFiring || (isResolved && isKnown)) continue;
    const { name, scope, severity } = cause;
    const [first] = cause.mismatches;
    const said = await describeRaised(trx, cause);
    const about = { mismatchId: first.id, transactionId: first.found.transactionId ?? null };
    const fresh = await raiseAlerts(trx, [{ name, scope, severity, ...said, ...about, ended: isResolved }], now);
    if (fresh === 0 && cause.isRun) await updateAlertSummary(trx, { name, scope, ...said });
  }
}

/** Ends the alert of a resolved mismatch, unless other mismatches of its cause are open. */
export async function endMismatchAlert(
  trx: Transaction<Database>,
  mismatch: AlertedMismatch & { seq: number },
  now: Date,
): Promise<void> {
  const cause = await trx
    .selectFrom('mismatch_causes')
    .select(['alert_name as name', 'alert_scope as scope'])
    .where('mismatch_seq', '=', mismatch.seq)
    .executeTakeFirst();
  if (cause) await endCause(trx, cause, now);
  // alerted by a version in which a single mismatch had no cause
  else await endAlerts(trx, [{ name: mismatch.kind, scope: scopeForAlerts(mismatch) }], now);
}

/** Ends the alert of a cause if none of its mismatches is open. */
async function endCause(trx: Transaction<Database>, cause: Cause, now: Date): Promise<void> {
  // without a lock first: two transactions that end the last two see each other's as open, and the watch ends the alert
  if (await hasOpen(trx, cause)) return;
  await sql`SELECT seq FROM alerts WHERE firing_scope = ${`${cause.name} ${cause.scope}`} FOR UPDATE`.execute(trx);
  if (!(await hasOpen(trx, cause))) await endAlerts(trx, [cause], now);
}

/** Updates what the alerts of all causes count, and ends those without an open mismatch. The watch calls it. */
export async function refreshMismatchAlerts(context: Context): Promise<void> {
  const firing = await context.db
    .selectFrom('alerts')
    .select(['name', 'scope', 'summary'])
    .where('firing_scope', 'is not', null)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('mismatch_causes')
          .select('mismatch_seq')
          .whereRef('alert_name', '=', 'alerts.name')
          .whereRef('alert_scope', '=', 'alerts.scope'),
      ),
    )
    .execute();
  for (const alert of firing) {
    const open = await readOpen(context.db, alert);
    const said = open && describe(alert, open);
    if (said?.summary === alert.summary) continue;
    await transact(context.db, async (trx) => {
      if (said) await updateAlertSummary(trx, { ...alert, ...said, ...aboutOf(open.one) });
      else await endCause(trx, alert, context.clock.now());
    });
    if (!said) context.wakeUps.alerts.notify();
  }
}

type AlertedMismatch = { id: string; kind: string; scope: string; transactionId: string | null };

/**
 * Returns the scope of a mismatch in its alert: its own one; or its id, if the scope is the hash of a reference, which says
 * nothing to a person, or contains a document, as a platform's name may.
 */
export function scopeForAlerts({ id, kind, scope, transactionId }: AlertedMismatch): string {
  // an order's number may name a person: its id does not
  if (transactionId !== null || isOfExpectedPayment(kind)) return scope;
  return kind === 'duplicate_reference' || maskText(scope) !== scope ? id : scope;
}

async function findCauses(trx: Transaction<Database>, mismatches: RaisedMismatch[], now: Date): Promise<RaisedCause[]> {
  const runIds = await readRunIds(trx, mismatches);
  const groups = Map.groupBy(mismatches, ({ found, severity }) =>
    JSON.stringify([found.kind, runIds.get(found.runSeq ?? -1) ?? severity, found.joins?.scope]),
  );
  const causes: RaisedCause[] = [];
  for (const [first, ...rest] of groups.values()) {
    if (!first) continue;
    const joined = first.found.joins && (await findFiringCause(trx, first.found.joins));
    if (joined) {
      const { severity } = first;
      causes.push({ ...joined, severity, isRun: false, isFiring: true, mismatches: [first, ...rest] });
      continue;
    }
    const name = first.found.kind;
    const run = runIds.get(first.found.runSeq ?? -1);
    const severity = run === undefined ? first.severity : worst([first, ...rest]);
    const firing = run === undefined ? await findFiringGroup(trx, { name, severity }, now) : undefined;
    const scope = run ?? firing ?? `${severity} ${now.toISOString().slice(0, 13)}Z`;
    const is = { isRun: run !== undefined, isFiring: firing !== undefined };
    causes.push({ name, scope, severity, ...is, mismatches: [first, ...rest] });
  }
  return causes;
}

/** @returns the cause of an open mismatch while it fires. Its alert cannot end before this transaction does. */
async function findFiringCause(trx: Transaction<Database>, { kind, scope }: { kind: MismatchKind; scope: string }) {
  const { rows } = await sql<{ scope: string }>`SELECT alert_scope AS scope FROM mismatches
      JOIN mismatch_causes ON mismatch_seq = mismatches.seq
      JOIN alerts FORCE INDEX (alerts_firing) ON firing_scope = CONCAT(alert_name, ' ', alert_scope)
    WHERE open_scope = ${`${kind} ${scope}`} AND alert_name = ${kind} LOCK IN SHARE MODE`.execute(trx);
  return rows[0] && { name: kind, scope: rows[0].scope };
}

/** @returns the scope of the group that takes mismatches now. Its alert cannot end before this transaction does. */
async function findFiringGroup(
  trx: Transaction<Database>,
  { name, severity }: { name: string; severity: string },
  now: Date,
): Promise<string | undefined> {
  const prefix = `${name} ${severity}`;
  const since = new Date(now.getTime() - GROUP_MS);
  // the index is forced: a full scan of a small table would wait for rows that other writers have locked
  const { rows } = await sql<{ scope: string }>`
    SELECT scope FROM alerts FORCE INDEX (alerts_firing)
    WHERE firing_scope > ${`${prefix} `} AND firing_scope < ${`${prefix}!`} AND raised_at > ${since}
    ORDER BY firing_scope DESC LIMIT 1 LOCK IN SHARE MODE`.execute(trx);
  return rows[0]?.scope;
}

async function readRunIds(trx: Transaction<Database>, mismatches: RaisedMismatch[]): Promise<Map<number, string>> {
  const seqs = [...new Set(mismatches.flatMap(({ found }) => found.runSeq ?? []))];
  if (seqs.length === 0) return new Map();
  const rows = await trx.selectFrom('runs').select(['seq', 'id']).where('seq', 'in', seqs).execute();
  return new Map(rows.map((row) => [row.seq, row.id]));
}

/** Adds mismatches to their cause. @returns whether the cause was alerted before. */
async function joinCause(trx: Transaction<Database>, { name, scope, mismatches }: RaisedCause): Promise<boolean> {
  const before = await trx
    .selectFrom('mismatch_causes')
    .select('mismatch_seq')
    .where('alert_name', '=', name)
    .where('alert_scope', '=', scope)
    .limit(1)
    .executeTakeFirst();
  await trx
    .insertInto('mismatch_causes')
    .values(mismatches.map((one) => ({ mismatch_seq: one.seq, alert_name: name, alert_scope: scope })))
    .onDuplicateKeyUpdate({ alert_name: name, alert_scope: scope })
    .execute();
  return before !== undefined;
}

function selectOpen(db: Reader, cause: Cause) {
  return db
    .selectFrom('mismatch_causes')
    .innerJoin('mismatches', 'mismatches.seq', 'mismatch_causes.mismatch_seq')
    .where('alert_name', '=', cause.name)
    .where('alert_scope', '=', cause.scope)
    .where('mismatches.open_scope', 'is not', null);
}

async function hasOpen(db: Reader, cause: Cause): Promise<boolean> {
  // by the primary key of the cause's rows, the newest first
  const newest = selectOpen(db, cause).select('mismatch_seq').orderBy('mismatch_seq', 'desc').limit(1);
  return (await newest.executeTakeFirst()) !== undefined;
}

type Open = { count: number; cents: bigint; one: AlertedMismatch };

/** @returns the open mismatches of a cause, and the first of them; undefined without any. */
async function readOpen(db: Reader, cause: Cause): Promise<Open | undefined> {
  const one = await selectOpen(db, cause)
    .select(['mismatches.id', 'mismatches.kind', 'mismatches.scope', 'mismatches.transaction_id as transactionId'])
    .orderBy('mismatch_seq')
    .limit(1)
    .executeTakeFirst();
  if (!one) return undefined;
  const row = await selectOpen(db, cause)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .select(sumStakeInSql().as('stake_cents'))
    .executeTakeFirstOrThrow();
  // the name of the column makes it a bigint
  return { count: Number(row.count), cents: row.stake_cents, one };
}

/** The mismatch that an alert shows. A group that shrinks to one links to that one. */
function aboutOf({ id, transactionId }: AlertedMismatch): { mismatchId: string; transactionId: string | null } {
  return { mismatchId: id, transactionId };
}

async function describeRaised(trx: Transaction<Database>, cause: RaisedCause): Promise<ReturnType<typeof describe>> {
  const open = await readOpen(trx, cause);
  const { mismatches } = cause;
  const [{ id, found }] = mismatches;
  const one = { id, kind: found.kind, scope: found.scope, transactionId: found.transactionId ?? null };
  // those that are resolved at once are not open
  if (open && open.count >= mismatches.length) return describe(cause, open);
  const { stake_cents: cents } = await trx
    .selectFrom('mismatches')
    .select(sumStakeInSql().as('stake_cents'))
    .where(
      'seq',
      'in',
      mismatches.map(({ seq }) => seq),
    )
    .executeTakeFirstOrThrow();
  return describe(cause, { count: mismatches.length, cents, one });
}

/** Describes an alert: the kind, the transaction or day, or how many there are, and the amount at stake. */
function describe({ name, scope }: Cause, { count, cents, one }: Open) {
  const own = scopeForAlerts(one);
  const fact = one.transactionId
    ? 'transaction'
    : isOfExpectedPayment(one.kind)
      ? 'expected'
      : own === one.id
        ? 'mismatch'
        : 'about';
  return summarize(name as AlertKind, { count, cents: String(cents), cause: scope, [fact]: one.transactionId ?? own });
}

function worst(mismatches: RaisedMismatch[]): Severity {
  const ranks: Severity[] = ['critical', 'high', 'medium'];
  return ranks.find((rank) => mismatches.some(({ severity }) => severity === rank)) ?? 'medium';
}
