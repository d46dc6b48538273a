import type { Context } from '../context.ts';
import { ConfereError } from '../domain/errors.ts';
import { largest } from '../domain/lists.ts';
import { LATE_MS_MAX } from '../seal/find-late-entries.ts';
import { parseMembers } from '../seal/format-members.ts';
import type { SealedAuditRow } from '../seal/hash-seal.ts';
import { loadAuditRows, SEAL_AUDIT_MAX } from '../seal/select-audit-rows.ts';
import type { CheckState } from './check-state.ts';
import type { ReportBreak } from './collect-breaks.ts';
import { SEALED_WITHIN_MS, UNSEALED_SCOPE } from './verify-sealed.ts';

/** Rows without a seal that one check follows. */
export const UNCOVERED_MAX = 10_000;
const ROWS_AT_ONCE = 10_000;

type SealRow = { position: number; audit_seq: number | null; audit_members: string | null };

type AuditWalk = CheckState['walk']['audit'];

/**
 * Returns rows of a seal that are dated long before all rows were sealed: they were inserted afterwards. A row is
 * sealed within seconds, or up to LATE_MS_MAX later where another node of a cluster committed it.
 */
export function findBackdated(rows: SealedAuditRow[], walk: AuditWalk, sealedAt: Date): SealedAuditRow[] {
  const { caughtUpAt } = walk;
  if (rows.length < SEAL_AUDIT_MAX / 2) walk.caughtUpAt = sealedAt.getTime();
  return rows.filter((row) => caughtUpAt !== null && row.at.getTime() < caughtUpAt - 2 * LATE_MS_MAX);
}

/** Reads the audit rows of a group of seals, by position; reports missing ones. */
export async function readSealedAuditRows(
  context: Context,
  rows: SealRow[],
  { walk, report }: { walk: AuditWalk; report: ReportBreak },
): Promise<Map<number, SealedAuditRow[]>> {
  const { db } = context;
  const read = (row: SealRow) => readMembers(row, { members: row.audit_members ?? '', max: SEAL_AUDIT_MAX, report });
  const members = new Map(rows.map((row) => [row.position, read(row)]));
  const named = [...members.values()].flat();
  const to = Math.max(walk.seq, largest(rows.map((row) => row.audit_seq ?? 0)));
  const found = new Map<number, SealedAuditRow>();
  for (let after = walk.seq; ; ) {
    const part = await loadAuditRows(db, { after, to, limit: ROWS_AT_ONCE });
    for (const row of part) {
      found.set(row.seq, row);
      if (walk.unsealed.size < UNCOVERED_MAX) walk.unsealed.set(row.seq, row.at.getTime());
    }
    after = part.at(-1)?.seq ?? to;
    if (part.length < ROWS_AT_ONCE) break;
  }
  const late = named.filter((seq) => !found.has(seq));
  for (const row of await loadAuditRows(db, { seqs: late })) found.set(row.seq, row);
  for (const seq of named) walk.unsealed.delete(seq);
  walk.seq = to;
  return new Map(
    [...members].map(([position, seqs]) => {
      for (const seq of seqs)
        if (!found.has(seq)) report({ scope: `audit au_${seq}`, says: `sealed at position ${position}, and gone` });
      return [position, seqs.map((seq) => found.get(seq)).filter((row) => row !== undefined)];
    }),
  );
}

/** Reports audit rows older than ten minutes that no seal contains. */
export async function verifyAuditSealed({ db, clock }: Context, walk: AuditWalk, report: ReportBreak): Promise<void> {
  const since = new Date(clock.now().getTime() - SEALED_WITHIN_MS);
  for (const [seq, at] of walk.unsealed) {
    if (at < since.getTime()) report({ scope: `audit au_${seq}`, says: 'it is in no sealed position' });
  }
  const row = await db
    .selectFrom('audit')
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.min('seq').as('first')])
    .where('seq', '>', walk.seq)
    .where('at', '<', since)
    .executeTakeFirst();
  const count = Number(row?.count ?? 0);
  if (count === 0) return;
  const says = `${count} rows of the audit, from au_${row?.first} on, are in no sealed position and older than ten minutes`;
  report({ scope: UNSEALED_SCOPE, says });
}

/** Reads which rows a seal names. Reports a list that no sealer writes. */
export function readMembers(
  { position }: { position: number },
  { members, max, report }: { members: string; max: number; report: ReportBreak },
): number[] {
  try {
    return parseMembers(members, max);
  } catch (error) {
    if (!(error instanceof ConfereError)) throw error;
    report({ scope: `seal ${position}`, says: error.message });
    return [];
  }
}
