/**
 * Verifies that the hash chain matches the journal and the audit: every seal from the first, or from the proven one, in
 * bounded memory. A wrong hash is reported, and the next seal is compared with the stored hash, so each break is reported
 * where it is.
 */

import type { Context } from '../context.ts';
import { largest } from '../domain/lists.ts';
import { SEAL_ENTRIES_MAX } from '../seal/find-late-entries.ts';
import { hashSeal, type SealedAuditRow, type SealedEntry } from '../seal/hash-seal.ts';
import { loadSealedEntries } from '../seal/load-sealed-entries.ts';
import type { CheckState, Verification } from './check-state.ts';
import type { ReportBreak } from './collect-breaks.ts';
import { verifyReports } from './verify-anchors.ts';
import { findBackdated, readMembers, readSealedAuditRows, UNCOVERED_MAX, verifyAuditSealed } from './verify-audit.ts';
import { readLateEntries, verifyCounts, verifyNoOrphanedLateEntries } from './verify-late-entries.ts';
import { SEALED_WITHIN_MS, verifySealed } from './verify-sealed.ts';

const SEALS_AT_ONCE = 200;
const ENTRIES_AT_ONCE = 4_000;

type SealRow = Awaited<ReturnType<typeof readSealRows>>[number];
type Walk = CheckState['walk'];

/** Verifies the next group of seals and what they seal; behind the newest one, that nothing is left unsealed. */
export async function verifyChain({ context, state, report }: Verification): Promise<boolean> {
  const { walk } = state;
  const rows = await readSealRows(context, walk.position);
  if (rows.length > 0) {
    await verifyGroup(context, takeGroup(rows, walk.audit.seq), state, report);
    return true;
  }
  const since = context.clock.now().getTime() - SEALED_WITHIN_MS;
  for (const [seq, recordedAt] of walk.uncovered) {
    if (recordedAt < since) report({ scope: `entry en_${seq}`, says: 'it is in no sealed position' });
  }
  await verifySealed(context, walk.entrySeq, report);
  await verifyAuditSealed(context, walk.audit, report);
  return false;
}

/** Compares the whole chain with the hashes that are stored elsewhere. */
export async function verifyAnchors({ context, state: { walk }, proof, report }: Verification): Promise<boolean> {
  await verifyNoOrphanedLateEntries(context, proof?.walk.position ?? 0, report);
  await verifyReports(context, walk.position, report);
  return false;
}

async function readSealRows(context: Context, after: number) {
  return await context.db
    .selectFrom('seals')
    .selectAll()
    .where('position', '>', after)
    .orderBy('position')
    .limit(SEALS_AT_ONCE)
    .execute();
}

/** Returns as many seals as have ENTRIES_AT_ONCE entries and audit rows together; at least one. */
function takeGroup(rows: SealRow[], auditSeq: number): SealRow[] {
  let count = 0;
  let before = auditSeq;
  const end = rows.findIndex((row) => {
    count += row.entries + Math.max(0, (row.audit_seq ?? before) - before);
    before = row.audit_seq ?? before;
    return count > ENTRIES_AT_ONCE;
  });
  return end < 0 ? rows : rows.slice(0, Math.max(1, end));
}

async function verifyGroup(
  context: Context,
  rows: SealRow[],
  { walk }: CheckState,
  report: ReportBreak,
): Promise<void> {
  const read = (row: SealRow) => readMembers(row, { members: row.members, max: SEAL_ENTRIES_MAX, report });
  const members = new Map(rows.map((row) => [row.position, read(row)]));
  const named = [...members.values()].flat();
  const to = largest(rows.map((row) => row.entry_seq));
  const range = { after: walk.entrySeq, to, limit: named.length + UNCOVERED_MAX };
  const ranged = await loadSealedEntries(context.db, range);
  const late = named.filter((seq) => seq <= walk.entrySeq || seq > to);
  const entries = new Map(
    [...ranged, ...(await loadSealedEntries(context.db, { seqs: late }))].map((one) => [one.seq, one]),
  );
  for (const { seq, recordedAt } of ranged) {
    if (walk.uncovered.size < UNCOVERED_MAX) walk.uncovered.set(seq, recordedAt.getTime());
  }
  for (const seq of named) walk.uncovered.delete(seq);
  const audits = await readSealedAuditRows(context, rows, { walk: walk.audit, report });
  const lateRecorded = await readLateEntries(context, rows[0]?.position ?? 0, rows.at(-1)?.position ?? 0);
  for (const row of rows) {
    const seqs = members.get(row.position) ?? [];
    for (const says of verifyCounts(row, {
      members: seqs,
      before: walk.entrySeq,
      recorded: lateRecorded.get(row.position),
    })) {
      report({ scope: `seal ${row.position}`, says });
    }
    verifySeal(row, { members: seqs, entries, audit: audits.get(row.position) ?? [] }, walk, report);
  }
}

type Loaded = { members: number[]; entries: Map<number, SealedEntry>; audit: SealedAuditRow[] };

function verifySeal(row: SealRow, { members, entries, audit }: Loaded, walk: Walk, report: ReportBreak): void {
  const fault = (says: string): void => report({ scope: `seal ${row.position}`, says });
  if (row.position !== walk.position + 1) fault(`the positions after ${walk.position} are missing`);
  if (row.entry_seq < walk.entrySeq) fault('it ends before the position before it');
  const missing = members.filter((seq) => !entries.has(seq));
  for (const seq of missing) report({ scope: `entry en_${seq}`, says: `sealed at position ${row.position}, and gone` });
  const header = {
    position: row.position,
    entrySeq: row.entry_seq,
    eventSeq: row.event_seq,
    mismatchChangeSeq: row.mismatch_change_seq,
    members: row.members,
    sealedAt: row.sealed_at,
    audit: row.audit_seq === null ? null : { seq: row.audit_seq, members: row.audit_members ?? '' },
  };
  const sealed = members.map((seq) => entries.get(seq)).filter((entry) => entry !== undefined);
  if (row.previous_hash.toString('hex') !== walk.hash) fault('it does not follow the hash of the position before it');
  if (!hashSeal(row.previous_hash, header, sealed, audit).equals(row.hash)) {
    const rows = row.audit_members ? ` and of the audit's rows (${row.audit_members.slice(0, 60)})` : '';
    fault(`its hash is not that of its entries (${row.members.slice(0, 60)})${rows}`);
  }
  const backdated = row.audit_seq === null ? [] : findBackdated(audit, walk.audit, row.sealed_at);
  for (const { seq } of backdated) {
    report({ scope: `audit au_${seq}`, says: `sealed at position ${row.position}, and dated long before it` });
  }
  walk.position = row.position;
  walk.entrySeq = Math.max(walk.entrySeq, row.entry_seq);
  walk.hash = row.hash.toString('hex');
  walk.sealed += members.length;
}
