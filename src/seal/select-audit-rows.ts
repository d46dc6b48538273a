/**
 * The audit rows of each seal. They are sealed by number, up to the watermark; a row committed later, as on another
 * node of a cluster, is found by its time and sealed then.
 */
import type { Reader } from '../database/reader.ts';
import { LATE_MS_MAX, type LateSearch } from './find-late-entries.ts';
import { parseMembers } from './format-members.ts';
import type { SealedAuditRow } from './hash-seal.ts';
import type { Seal } from './read-seals.ts';

/** Maximum audit rows of one seal; more take several. */
export const SEAL_AUDIT_MAX = 2_000;

/** Returns the audit rows of the next seal, by number, and the number up to which it then reaches. */
export async function selectAuditRows(
  db: Reader,
  head: Seal,
  { to, lateSearch }: { to: number; lateSearch: LateSearch },
): Promise<{ rows: SealedAuditRow[]; seq: number }> {
  const late = lateSearch === 'far' ? (await findLateAuditRows(db, head)).slice(0, SEAL_AUDIT_MAX / 2) : [];
  const limit = SEAL_AUDIT_MAX - late.length;
  const next = await loadAuditRows(db, { after: head.auditSeq, to, limit });
  const seq = next.length === limit ? (next.at(-1)?.seq ?? head.auditSeq) : Math.max(head.auditSeq, to);
  return { rows: [...(await loadAuditRows(db, { seqs: late })), ...next], seq };
}

/** Returns rows of the ten minutes before the head, at or below its number, that no seal contains. */
export async function findLateAuditRows(db: Reader, head: Seal): Promise<number[]> {
  const since = new Date(head.sealedAt.getTime() - LATE_MS_MAX);
  const rows = await db
    .selectFrom('audit')
    .select('seq')
    .where('at', '>=', since)
    .where('seq', '<=', head.auditSeq)
    .orderBy('seq')
    .execute();
  if (rows.length === 0) return [];
  const seals = await db
    .selectFrom('seals')
    .select('audit_members')
    // a row may have been written while the seal before it was
    .where('sealed_at', '>=', new Date(since.getTime() - LATE_MS_MAX))
    .where('audit_members', 'is not', null)
    .where('audit_members', '!=', '')
    .execute();
  const sealed = new Set(seals.flatMap((seal) => parseMembers(seal.audit_members ?? '', SEAL_AUDIT_MAX)));
  return rows.map((row) => row.seq).filter((seq) => !sealed.has(seq));
}

/** Returns audit rows as they are sealed, by number. */
export async function loadAuditRows(
  db: Reader,
  choice: { after: number; to: number; limit: number } | { seqs: number[] },
): Promise<SealedAuditRow[]> {
  if ('seqs' in choice && choice.seqs.length === 0) return [];
  let query = db.selectFrom('audit').selectAll().orderBy('seq');
  if ('seqs' in choice) query = query.where('seq', 'in', choice.seqs);
  else query = query.where('seq', '>', choice.after).where('seq', '<=', choice.to).limit(choice.limit);
  return await query.execute();
}
