/**
 * Opens mismatches. Findings (`FoundMismatch`) come in; rows of `mismatches`, their recorded changes and their
 * alerts go out, all in the caller's transaction.
 *
 * At most one mismatch of a kind and scope is open. Found again while open, it shows the newest evidence. Found again
 * after it resolved itself, it reopens and counts that. Found again after a person resolved it, it reopens only for
 * other evidence than the person saw, or if fresh evidence had resolved it since. Each change of state is a row that is
 * never changed. resolve-mismatches.ts has the other half of the lifecycle.
 */
import { type Selectable, sql, type Transaction, type UpdateObject } from 'kysely';
import { SYSTEM_ACTOR } from '../access/audit.ts';
import { requireRowNumber } from '../database/require-row-number.ts';
import type { Database } from '../database/tables.ts';
import { createId } from '../domain/ids.ts';
import { append } from '../domain/lists.ts';
import { type FoundMismatch, MISMATCH_SEVERITY, type Severity } from '../domain/mismatch.ts';
import { alertMismatches, type RaisedMismatch } from './alert-mismatches.ts';
import { recordMismatchChange } from './record-mismatch-change.ts';
import { mismatchKey } from './resolve-mismatches.ts';

type Row = { id: string; found: FoundMismatch; severity: Severity };

/** Raises mismatches. @returns those that were opened or reopened, including those resolved at once. */
export async function raiseMismatches(
  trx: Transaction<Database>,
  found: FoundMismatch[],
  now: Date,
): Promise<FoundMismatch[]> {
  const unique = [...new Map(found.map((one) => [mismatchKey(one), one])).values()];
  if (unique.length === 0) return [];
  const latest = await findLatest(trx, unique);
  const raised: RaisedMismatch[] = [];
  const fresh: Row[] = [];
  for (const one of unique) {
    const severity = one.severity ?? MISMATCH_SEVERITY[one.kind];
    const last = latest.get(mismatchKey(one));
    if (!last) {
      const row = { id: createId('mm'), found: one, severity };
      fresh.push(row);
    } else if (last.state === 'resolved' && mayReopen(last, one)) {
      await update(trx, last.seq, { found: one, now, more: reopened(one, now) });
      raised.push({ seq: last.seq, id: last.id, found: one, severity });
    } else if (last.state !== 'resolved' && !one.outdated && isNewEvidence(last, one)) {
      await update(trx, last.seq, { found: one, now });
    }
  }
  if (fresh.length > 0) append(raised, await insertMismatches(trx, fresh, now));
  await alertMismatches(trx, raised, now);
  return raised.map((row) => row.found);
}

type Latest = Pick<Selectable<Database['mismatches']>, 'seq' | 'id' | 'state' | 'kept_scope' | 'expected' | 'actual'>;

/** Locks and returns the newest mismatch of each kind and scope, open or not. */
async function findLatest(trx: Transaction<Database>, found: FoundMismatch[]): Promise<Map<string, Latest>> {
  const rows = await trx
    .selectFrom('mismatches')
    .select(['seq', 'id', 'kind', 'scope', 'state', 'kept_scope', 'expected', 'actual'])
    .where((eb) =>
      eb.or(
        [...Map.groupBy(found, (one) => one.kind)].map(([kind, ones]) =>
          eb.and([
            eb('kind', '=', kind),
            eb(
              'scope',
              'in',
              ones.map((one) => one.scope),
            ),
          ]),
        ),
      ),
    )
    .orderBy('seq')
    .forUpdate()
    .execute();
  return new Map(rows.map((row) => [mismatchKey(row), row]));
}

function mayReopen(last: Latest, found: FoundMismatch): boolean {
  return last.kept_scope === null || last.actual !== toJson(found.actual);
}

function isNewEvidence(last: Latest, found: FoundMismatch): boolean {
  // another amount or contract may have changed the price of an unchanged commission
  const priced = found.kind === 'commission_differs' && last.expected !== toJson(found.expected);
  return priced || last.actual !== toJson(found.actual);
}

/** Writes what a mismatch shows now, and records that it changed. */
async function update(
  trx: Transaction<Database>,
  seq: number,
  { found, now, more = {} }: { found: FoundMismatch; now: Date; more?: UpdateObject<Database, 'mismatches'> },
): Promise<void> {
  const amount = found.amountCents === undefined ? {} : { amount_cents: found.amountCents };
  const evidence = { expected: toJson(found.expected), actual: toJson(found.actual), ...amount };
  await trx
    .updateTable('mismatches')
    .set({ ...evidence, ...more })
    .where('seq', '=', seq)
    .execute();
  await recordMismatchChange(trx, [seq], { note: null, actor: SYSTEM_ACTOR }, now);
}

function reopened(found: FoundMismatch, now: Date): UpdateObject<Database, 'mismatches'> {
  const isOpen = found.resolution === undefined;
  return {
    state: isOpen ? 'open' : 'resolved',
    open_scope: isOpen ? mismatchKey(found) : null,
    kept_scope: null,
    run_seq: found.runSeq ?? null,
    webhook_seq: found.webhookSeq ?? null,
    opened_at: now,
    acknowledged_at: null,
    resolved_at: isOpen ? null : now,
    resolution: found.resolution ?? null,
    reopened: sql`reopened + 1`,
    baseline: found.baseline ? 1 : 0,
  };
}

async function insertMismatches(trx: Transaction<Database>, fresh: Row[], now: Date): Promise<RaisedMismatch[]> {
  await trx
    .insertInto('mismatches')
    .values(fresh.map((row) => toRow(row, now)))
    .execute();
  const rows = await trx
    .selectFrom('mismatches')
    .select(['seq', 'id', 'state', 'resolution'])
    .where(
      'id',
      'in',
      fresh.map((row) => row.id),
    )
    .execute();
  const all = rows.map((row) => row.seq);
  await recordMismatchChange(trx, all, { note: null, actor: SYSTEM_ACTOR }, now);
  const seqs = new Map(rows.map((row) => [row.id, row.seq]));
  return fresh.map((row) => ({ ...row, seq: requireRowNumber(seqs.get(row.id), `mismatch ${row.id}`) }));
}

function toRow({ id, found, severity }: Row, now: Date) {
  const isResolved = found.resolution !== undefined;
  return {
    id,
    kind: found.kind,
    severity,
    state: isResolved ? 'resolved' : 'open',
    scope: found.scope,
    open_scope: isResolved ? null : mismatchKey(found),
    transaction_seq: found.transactionSeq ?? null,
    transaction_id: found.transactionId ?? null,
    reference: found.reference ?? null,
    amount_cents: found.amountCents ?? null,
    expected: toJson(found.expected),
    actual: toJson(found.actual),
    run_seq: found.runSeq ?? null,
    webhook_seq: found.webhookSeq ?? null,
    opened_at: now,
    resolved_at: isResolved ? now : null,
    resolution: found.resolution ?? null,
    baseline: found.baseline ? 1 : 0,
  };
}

function toJson(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value);
}

/** Makes a mismatch of several webhooks name the next one, once the named one is processed. */
export async function reassignMismatch(trx: Transaction<Database>, seq: number, webhookSeq: number): Promise<void> {
  await trx.updateTable('mismatches').set({ webhook_seq: webhookSeq }).where('seq', '=', seq).execute();
}
