/**
 * One alert per root cause. Mismatches of a kind that one run finds, or that are found together, have one cause. The
 * alert fires until the last of them is resolved. A single mismatch has an alert of its own.
 */
import { sql, type Transaction } from 'kysely';
import { endAlerts, raiseAlerts, updateAlertSummary } from '../alerts/raise-alerts.ts';
import type { Database } from '../database/tables.ts';
import type { FoundMismatch, MismatchKind, Severity } from '../domain/mismatch.ts';
import { formatAmount } from '../domain/money.ts';
import { maskText } from '../domain/person/mask-person.ts';

export type RaisedMismatch = { seq: number; id: string; found: FoundMismatch; severity: Severity };
type Cause = { name: MismatchKind; scope: string; shared: boolean; mismatches: [RaisedMismatch, ...RaisedMismatch[]] };

/** Alerts mismatches that were just opened. The watch alerts those of the baseline, all together. */
export async function alertMismatches(trx: Transaction<Database>, opened: RaisedMismatch[], now: Date): Promise<void> {
  const mismatches = opened.filter((one) => !one.found.baseline);
  if (mismatches.length === 0) return;
  for (const cause of findCauses(mismatches, await readRunIds(trx, mismatches))) {
    const isKnown = cause.shared && (await joinCause(trx, cause));
    // a mismatch that is resolved at once never fires: its cause records that it was alerted
    const isResolved = cause.mismatches.every((one) => one.found.resolution !== undefined);
    if (isResolved && isKnown) continue;
    const alert = {
      name: cause.name,
      scope: cause.scope,
      severity: worst(cause.mismatches),
      ...(await describe(trx, cause)),
    };
    const fresh = await raiseAlerts(trx, [{ ...alert, ended: isResolved }], now);
    if (fresh === 0 && cause.shared) await updateAlertSummary(trx, alert);
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
  if (cause && (await countOpen(trx, cause)).count > 0) return;
  await endAlerts(trx, [cause ?? { name: mismatch.kind, scope: scopeForAlerts(mismatch) }], now);
}

type AlertedMismatch = { id: string; kind: string; scope: string; transactionId: string | null };

/**
 * Returns the scope of a mismatch in its alert: its own one; or its id, if the scope is the hash of a reference, which says
 * nothing to a person, or contains a document, as a platform's name may.
 */
export function scopeForAlerts({ id, kind, scope, transactionId }: AlertedMismatch): string {
  if (transactionId !== null) return scope;
  return kind === 'duplicate_reference' || maskText(scope) !== scope ? id : scope;
}

function findCauses(mismatches: RaisedMismatch[], runIds: Map<number, string>): Cause[] {
  const groups = Map.groupBy(mismatches, ({ found }) =>
    // a quarantine's scope (its reason and hour) is a cause already
    found.kind === 'webhook_quarantined' ? `${found.kind} ${found.scope}` : `${found.kind} ${found.runSeq ?? ''}`,
  );
  return [...groups.values()].flatMap((group): Cause[] => {
    const [first, ...rest] = group;
    if (!first) return [];
    const { kind, runSeq } = first.found;
    const run = runSeq === undefined ? undefined : runIds.get(runSeq);
    const shared = run !== undefined || rest.length > 0;
    return [{ name: kind, scope: run ?? (shared ? first.id : scopeOf(first)), shared, mismatches: [first, ...rest] }];
  });
}

function scopeOf({ id, found }: RaisedMismatch): string {
  const { kind, scope, transactionId = null } = found;
  return scopeForAlerts({ id, kind, scope, transactionId });
}

async function readRunIds(trx: Transaction<Database>, mismatches: RaisedMismatch[]): Promise<Map<number, string>> {
  const seqs = [...new Set(mismatches.flatMap(({ found }) => found.runSeq ?? []))];
  if (seqs.length === 0) return new Map();
  const rows = await trx.selectFrom('runs').select(['seq', 'id']).where('seq', 'in', seqs).execute();
  return new Map(rows.map((row) => [row.seq, row.id]));
}

/** Adds mismatches to their cause. @returns whether the cause was alerted before. */
async function joinCause(trx: Transaction<Database>, { name, scope, mismatches }: Cause): Promise<boolean> {
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

async function countOpen(trx: Transaction<Database>, cause: { name: string; scope: string }) {
  const row = await trx
    .selectFrom('mismatch_causes')
    .innerJoin('mismatches', 'mismatches.seq', 'mismatch_causes.mismatch_seq')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .select(sql<bigint>`CAST(COALESCE(SUM(mismatches.amount_cents), 0) AS SIGNED)`.as('sum_cents'))
    .where('alert_name', '=', cause.name)
    .where('alert_scope', '=', cause.scope)
    .where('mismatches.open_scope', 'is not', null)
    .executeTakeFirstOrThrow();
  return { count: Number(row.count), cents: row.sum_cents };
}

/** Describes an alert: the kind, the transaction or day, and the amount at stake. */
async function describe(trx: Transaction<Database>, cause: Cause) {
  const [first] = cause.mismatches;
  const { id, found } = first;
  const scope = scopeOf(first);
  const about = found.transactionId ? `transaction ${found.transactionId}` : scope === id ? `mismatch ${id}` : scope;
  const open = cause.shared ? await countOpen(trx, cause) : { count: 1, cents: 0n };
  const count = Math.max(open.count, cause.mismatches.length);
  const cents = count === 1 ? (found.amountCents ?? 0n) : open.cents || sum(cause.mismatches);
  const amount = describeStake(cents);
  const summary =
    count === 1
      ? `${found.kind}: ${about}${amount}`
      : `${found.kind}: ${count} of one cause (${cause.scope})${amount}; one of them: ${about}`;
  return { summary, mismatchId: id, transactionId: found.transactionId ?? null };
}

export function describeStake(cents: bigint | null): string {
  return cents === null || cents === 0n ? '' : `, R$ ${formatAmount(cents)}`;
}

function sum(mismatches: RaisedMismatch[]): bigint {
  return mismatches.reduce((total, { found }) => total + (found.amountCents ?? 0n), 0n);
}

function worst(mismatches: RaisedMismatch[]): Severity {
  const ranks: Severity[] = ['critical', 'high', 'medium'];
  return ranks.find((rank) => mismatches.some(({ severity }) => severity === rank)) ?? 'medium';
}
