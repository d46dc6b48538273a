/** The end of a mismatch's life, by fresh evidence or by a person, and what looks that agree with the books do to it. */
import type { Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';
import type { MismatchKind } from '../domain/mismatch.ts';
import { endMismatchAlert } from './alert-mismatches.ts';
import { recordMismatchChange } from './record-mismatch-change.ts';

/** Who a change of state is by, when it is nobody. */
export const SYSTEM = 'confere';
/** Resolutions that the program gives by itself; any other one is a person's. */
export const OWN_RESOLUTIONS = ['applied', 'fresh_evidence', 'reprocessed', 'revised'] as const;
export type OwnResolution = (typeof OWN_RESOLUTIONS)[number];

/**
 * Resolves what is open under these kinds and scopes.
 * @param over where `askedAt` is given, the evidence is of then, and ends only what was opened before.
 */
export async function resolveMismatches(
  trx: Transaction<Database>,
  over: { kind: MismatchKind; scope: string; askedAt?: Date }[],
  resolution: OwnResolution,
  now: Date,
): Promise<number> {
  if (over.length === 0) return 0;
  await releaseKept(trx, over, now);
  const rows = await trx
    .selectFrom('mismatches')
    .select(['seq', 'kind', 'scope', 'opened_at'])
    .where('open_scope', 'in', over.map(openScope))
    .orderBy('seq')
    .forUpdate()
    .execute();
  const asked = new Map(over.map((one) => [openScope(one), one.askedAt]));
  const ended = rows.filter((row) => row.opened_at <= (asked.get(openScope(row)) ?? row.opened_at));
  for (const row of ended) await setResolved(trx, row.seq, { resolution, note: null, actor: SYSTEM }, now);
  return ended.length;
}

/** What a person said of these stands no longer: found again, they are news. */
async function releaseKept(
  trx: Transaction<Database>,
  over: { kind: MismatchKind; scope: string; askedAt?: Date }[],
  now: Date,
): Promise<void> {
  for (const [askedAt, ones] of Map.groupBy(over, (one) => (one.askedAt ?? now).getTime())) {
    await trx
      .updateTable('mismatches')
      .set({ kept_scope: null })
      .where('kept_scope', 'in', ones.map(openScope))
      .where('resolved_at', '<=', new Date(askedAt))
      .execute();
  }
}

/** Writes the end of one mismatch and of its alert. */
export async function setResolved(
  trx: Transaction<Database>,
  seq: number,
  end: { resolution: string; note: string | null; actor: string },
  now: Date,
): Promise<void> {
  const row = await trx
    .selectFrom('mismatches')
    .select(['kind', 'scope'])
    .where('seq', '=', seq)
    .executeTakeFirstOrThrow();
  await trx
    .updateTable('mismatches')
    .set({
      state: 'resolved',
      open_scope: null,
      kept_scope: isOwn(end.resolution) ? null : openScope(row),
      resolved_at: now,
      resolution: end.resolution,
      note: end.note,
    })
    .where('seq', '=', seq)
    .execute();
  await recordMismatchChange(trx, [seq], end, now);
  await endMismatchAlert(trx, { seq, ...row }, now);
}

/**
 * Lets the evidence of what is open say what the provider shows now, where that is what the books hold again. It stays
 * open, since a person decides it; what the provider no longer shows can't be accepted.
 * @param shown what it shows now of the fields that the evidence may name.
 */
export async function refreshAgreed(
  trx: Transaction<Database>,
  agreed: { kind: MismatchKind; scope: string; shown: object }[],
  now: Date,
): Promise<void> {
  if (agreed.length === 0) return;
  // a contract's claim is not answered by a look that shows what it was raised for
  await releaseKept(
    trx,
    agreed.filter(({ kind }) => kind !== 'commission_differs'),
    now,
  );
  const rows = await trx
    .selectFrom('mismatches')
    .select(['seq', 'kind', 'scope', 'actual'])
    .where('open_scope', 'in', agreed.map(openScope))
    .orderBy('seq')
    .forUpdate()
    .execute();
  const shown = new Map(agreed.map((one) => [openScope(one), Object.entries(one.shown)]));
  for (const { seq, actual: before, ...row } of rows) {
    const actual: object = JSON.parse(before ?? '{}');
    const named = (shown.get(openScope(row)) ?? []).filter(([name]) => name in actual);
    const after = JSON.stringify({ ...actual, ...Object.fromEntries(named) });
    if (after === before) continue;
    await trx.updateTable('mismatches').set({ actual: after }).where('seq', '=', seq).execute();
    await recordMismatchChange(trx, [seq], { note: null, actor: SYSTEM }, now);
  }
}

export function openScope(one: { kind: string; scope: string }): string {
  return `${one.kind} ${one.scope}`;
}

function isOwn(resolution: string): boolean {
  return (OWN_RESOLUTIONS as readonly string[]).includes(resolution);
}
