/** Updates open mismatches by later observations, and resolves them, by fresh evidence or by a person. */
import { type Selectable, sql, type Transaction } from 'kysely';
import { SYSTEM_ACTOR } from '../access/audit.ts';
import type { Database } from '../database/tables.ts';
import type { MismatchKind } from '../domain/mismatch.ts';
import { endMismatchAlert } from './alert-mismatches.ts';
import { recordMismatchChange } from './record-mismatch-change.ts';

/** The actor of a change of state that no person made. */
/** Resolutions by the program; every other resolution is a person's. */
export const AUTOMATIC_RESOLUTIONS = ['applied', 'fresh_evidence', 'reprocessed', 'revised'] as const;
export type AutomaticResolution = (typeof AUTOMATIC_RESOLUTIONS)[number];

/**
 * A kind and scope to resolve. `askedAt`: when the evidence was requested; it resolves only mismatches opened before.
 * @property ignores whether the evidence does not apply to a mismatch with this `actual`.
 */
export type ResolvedScope = {
  kind: MismatchKind;
  scope: string;
  askedAt?: Date;
  ignores?: (actual: string | null) => boolean;
};

/** Resolves open mismatches of these kinds and scopes. @returns how many. */
export async function resolveMismatches(
  trx: Transaction<Database>,
  resolved: ResolvedScope[],
  resolution: AutomaticResolution,
  now: Date,
): Promise<number> {
  if (resolved.length === 0) return 0;
  const { open, kept } = await lockMismatches(trx, { open: resolved, kept: resolved });
  await release(trx, kept, resolved, now);
  const ended = listEnded(open, resolved);
  for (const { seq } of ended) await setResolved(trx, seq, { resolution, note: null, actor: SYSTEM_ACTOR }, now);
  return ended.length;
}

/** The evidence of observations about mismatches that were open before them. */
export type Evidence = {
  /** Kinds and scopes that they resolve. */
  resolved: ResolvedScope[];
  /** Facts that they show as booked; `shown`: the provider's current values of fields that the evidence may name. */
  confirmed: { kind: MismatchKind; scope: string; shown: object }[];
  /** The amounts that they show, by the scope of a webhook's claim of an amount. */
  amounts: { scope: string; amounts: Set<string> }[];
};

/**
 * Applies observations to open mismatches. Where the booked fact is shown again, the evidence is updated and the
 * mismatch stays open for a person to decide: a value that the provider no longer shows can't be accepted. Resolved
 * kinds are closed, and so are webhook claims of an amount that the provider now shows, even if the books have another.
 */
export async function applyEvidence(trx: Transaction<Database>, evidence: Evidence, now: Date): Promise<void> {
  const { resolved, confirmed } = evidence;
  const ending = [...resolved, ...confirmed];
  const claims = evidence.amounts.map(({ scope, amounts }) => ({ kind: CLAIM, scope, amounts }));
  const { open, kept } = await lockMismatches(trx, { open: [...resolved, ...confirmed, ...claims], kept: ending });
  await release(trx, kept, ending, now);
  if (open.length === 0) return;
  const shown = new Map(confirmed.map((one) => [mismatchKey(one), one.shown]));
  for (const row of open) await refreshShown(trx, row, shown.get(mismatchKey(row)) ?? {}, now);
  const claimed = new Map(claims.map((one) => [mismatchKey(one), one.amounts]));
  const met = open.filter((row) => claimed.get(mismatchKey(row))?.has(readClaim(row.expected)));
  for (const { seq } of new Set([...listEnded(open, resolved), ...met])) {
    await setResolved(trx, seq, { resolution: 'fresh_evidence', note: null, actor: SYSTEM_ACTOR }, now);
  }
}

const CLAIM: MismatchKind = 'webhook_contradiction';

function readClaim(expected: string | null): string {
  return (JSON.parse(expected ?? '{}') as { amount?: string }).amount ?? '';
}

export type OpenMismatch = Pick<
  Selectable<Database['mismatches']>,
  'seq' | 'kind' | 'scope' | 'opened_at' | 'expected' | 'actual'
>;

type LockedMismatch = OpenMismatch & { resolved_at: Date | null };
type Scope = { kind: MismatchKind; scope: string };

/** Locks and returns the unresolved mismatches of these kinds and scopes. */
export async function lockOpenMismatches(trx: Transaction<Database>, scopes: Scope[]): Promise<OpenMismatch[]> {
  return (await lockMismatches(trx, { open: scopes, kept: [] })).open;
}

/**
 * Locks unresolved mismatches of some kinds and scopes, and those of others that a person resolved. FORCE INDEX:
 * otherwise the server scans a small table and waits for every row that is being written.
 */
async function lockMismatches(
  trx: Transaction<Database>,
  scopes: { open: Scope[]; kept: Scope[] },
): Promise<{ open: LockedMismatch[]; kept: LockedMismatch[] }> {
  const selects = (['open', 'kept'] as const).flatMap((which) => {
    const names = [...new Set(scopes[which].map(mismatchKey))];
    if (names.length === 0) return [];
    return sql`(
      SELECT seq, kind, scope, opened_at, expected, actual, resolved_at
      FROM mismatches FORCE INDEX (${sql.ref(`mismatches_${which}`)})
      WHERE ${sql.ref(`${which}_scope`)} IN (${sql.join(names)})
      FOR UPDATE)`;
  });
  if (selects.length === 0) return { open: [], kept: [] };
  const { rows } = await sql<LockedMismatch>`${sql.join(selects, sql` UNION ALL `)}`.execute(trx);
  rows.sort((a, b) => a.seq - b.seq);
  return { open: rows.filter((row) => row.resolved_at === null), kept: rows.filter((row) => row.resolved_at !== null) };
}

function listEnded(open: OpenMismatch[], resolved: ResolvedScope[]): OpenMismatch[] {
  const ends = new Map(resolved.map((one) => [mismatchKey(one), one]));
  return open.filter((row) => {
    const end = ends.get(mismatchKey(row));
    return end !== undefined && row.opened_at <= (end.askedAt ?? row.opened_at) && !end.ignores?.(row.actual);
  });
}

async function refreshShown(trx: Transaction<Database>, row: OpenMismatch, shown: object, now: Date): Promise<void> {
  const actual: object = JSON.parse(row.actual ?? '{}');
  const named = Object.entries(shown).filter(([name]) => name in actual);
  if (named.length === 0) return;
  const after = JSON.stringify({ ...actual, ...Object.fromEntries(named) });
  if (after === row.actual) return;
  await trx.updateTable('mismatches').set({ actual: after }).where('seq', '=', row.seq).execute();
  await recordMismatchChange(trx, [row.seq], { note: null, actor: SYSTEM_ACTOR }, now);
}

async function release(
  trx: Transaction<Database>,
  kept: LockedMismatch[],
  resolved: ResolvedScope[],
  now: Date,
): Promise<void> {
  if (kept.length === 0) return;
  const ends = new Map(resolved.map((one) => [mismatchKey(one), one]));
  const isReleased = (row: LockedMismatch): boolean => {
    const end = ends.get(mismatchKey(row));
    return row.resolved_at !== null && row.resolved_at <= (end?.askedAt ?? now) && !end?.ignores?.(row.actual);
  };
  const seqs = kept.filter(isReleased).map((row) => row.seq);
  if (seqs.length === 0) return;
  await trx.updateTable('mismatches').set({ kept_scope: null }).where('seq', 'in', seqs).execute();
}

/** Writes the end of a mismatch and of its alert. */
export async function setResolved(
  trx: Transaction<Database>,
  seq: number,
  end: { resolution: string; note: string | null; actor: string },
  now: Date,
): Promise<void> {
  const row = await trx
    .selectFrom('mismatches')
    .select(['id', 'kind', 'scope', 'transaction_id as transactionId'])
    .where('seq', '=', seq)
    .executeTakeFirstOrThrow();
  await trx
    .updateTable('mismatches')
    .set({
      state: 'resolved',
      open_scope: null,
      kept_scope: isAutomatic(end.resolution) ? null : mismatchKey(row),
      resolved_at: now,
      resolution: end.resolution,
      note: end.note,
    })
    .where('seq', '=', seq)
    .execute();
  await recordMismatchChange(trx, [seq], end, now);
  await endMismatchAlert(trx, { seq, ...row }, now);
}

export function mismatchKey(one: { kind: string; scope: string }): string {
  return `${one.kind} ${one.scope}`;
}

function isAutomatic(resolution: string): boolean {
  return (AUTOMATIC_RESOLUTIONS as readonly string[]).includes(resolution);
}
