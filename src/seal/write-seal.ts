/** Writes one seal, under the lock of the chain. */
import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { appendToLog } from '../tlog/append.ts';
import type { Watermark } from './await-watermark.ts';
import { deriveBalances } from './derive-balances.ts';
import { advanceRefunds, lockSealing } from './derive-refunds.ts';
import { findLateEntries, type LateSearch, SEAL_ENTRIES_MAX } from './find-late-entries.ts';
import { formatMembers } from './format-members.ts';
import { GENESIS_HASH, hashSeal, type SealHeader } from './hash-seal.ts';
import { loadSealedEntries } from './load-sealed-entries.ts';
import { readNewestSeal, type Seal } from './read-seals.ts';
import { selectAuditRows } from './select-audit-rows.ts';

/** Before the first seal. */
export const NOTHING: Seal = {
  position: 0,
  entrySeq: 0,
  eventSeq: 0,
  mismatchChangeSeq: 0,
  auditSeq: 0,
  factChangeSeq: null,
  hash: GENESIS_HASH,
  sealedAt: new Date(0),
};

/** A seal whose numbers are all of one reading. */
export type SealedCut = Seal & { factChangeSeq: number };

export function isCut(seal: Seal): seal is SealedCut {
  return seal.factChangeSeq !== null;
}

/** Whether the head is a cut that has all of the watermark. */
export function reaches(head: Seal, watermark: Watermark): boolean {
  return reachesRows(head, watermark) && isCut(head) && head.factChangeSeq >= watermark.factChangeSeq;
}

export function reachesRows(head: Seal, watermark: Watermark): boolean {
  return (
    head.entrySeq >= watermark.entrySeq &&
    head.eventSeq >= watermark.eventSeq &&
    head.mismatchChangeSeq >= watermark.mismatchChangeSeq &&
    head.auditSeq >= watermark.auditSeq
  );
}

/** Writes the next seal. @param watermark the numbers up to which to seal; a backlog takes several seals. */
export async function sealNext(
  context: Context,
  trx: Transaction<Database>,
  { watermark, lateSearch }: { watermark: Watermark; lateSearch: LateSearch },
): Promise<Seal> {
  const refundsAt = await lockSealing(trx);
  // read under the lock: READ COMMITTED sees the commit of another sealer
  const last = await readNewestSeal(trx);
  const head = last ?? NOTHING;
  const now = context.clock.now();
  const late = last ? (await findLateEntries(trx, last, lateSearch)).slice(0, SEAL_ENTRIES_MAX / 2) : [];
  const audit = await selectAuditRows(trx, head, { to: watermark.auditSeq, lateSearch });
  if (last && late.length === 0 && audit.rows.length === 0 && reaches(last, watermark)) return last;
  const limit = SEAL_ENTRIES_MAX - late.length;
  const range = { after: head.entrySeq, to: watermark.entrySeq, limit };
  const entries = [
    ...(await loadSealedEntries(trx, { seqs: late }, 'error')),
    ...(await loadSealedEntries(trx, range, 'error')),
  ];
  const filled = entries.length === SEAL_ENTRIES_MAX;
  const header = {
    position: head.position + 1,
    entrySeq: filled ? (entries.at(-1)?.seq ?? head.entrySeq) : Math.max(head.entrySeq, watermark.entrySeq),
    eventSeq: Math.max(head.eventSeq, watermark.eventSeq),
    mismatchChangeSeq: Math.max(head.mismatchChangeSeq, watermark.mismatchChangeSeq),
    members: formatMembers(entries.map((entry) => entry.seq)),
    // monotonic, though another machine's clock may be slightly behind
    sealedAt: new Date(Math.max(now.getTime(), head.sealedAt.getTime())),
    audit: { seq: audit.seq, members: formatMembers(audit.rows.map((row) => row.seq)) },
  };
  // a part of a backlog is no cut, and neither is what lies above a newer part of another process
  const factChangeSeq = !filled && isAtLeast(watermark, head) ? watermark.factChangeSeq : null;
  const hash = hashSeal(head.hash, header, entries, audit.rows);
  await insertSeal(trx, { header, factChangeSeq, hash, previous: head.hash, entries: entries.length, late });
  await appendToLog(trx, header.position);
  await deriveBalances(trx, entries);
  if (refundsAt === head.position) await advanceRefunds(trx, { to: header.position, entries });
  const { members: _, audit: __, ...seal } = header;
  return { ...seal, auditSeq: audit.seq, factChangeSeq, hash };
}

function isAtLeast(watermark: Watermark, head: Seal): boolean {
  const names = ['entrySeq', 'eventSeq', 'mismatchChangeSeq', 'factChangeSeq'] as const;
  return names.every((name) => watermark[name] >= (head[name] ?? 0));
}

type NewSeal = {
  header: SealHeader;
  factChangeSeq: number | null;
  hash: Buffer;
  previous: Buffer;
  entries: number;
  late: number[];
};

async function insertSeal(
  trx: Transaction<Database>,
  { header, factChangeSeq, hash, previous, entries, late }: NewSeal,
): Promise<void> {
  await trx
    .insertInto('seals')
    .values({
      position: header.position,
      entry_seq: header.entrySeq,
      event_seq: header.eventSeq,
      mismatch_change_seq: header.mismatchChangeSeq,
      members: header.members,
      audit_seq: header.audit?.seq ?? null,
      audit_members: header.audit?.members ?? null,
      fact_change_seq: factChangeSeq,
      entries,
      stragglers: late.length,
      previous_hash: previous,
      hash,
      sealed_at: header.sealedAt,
    })
    .execute();
  if (late.length === 0) return;
  await trx
    .insertInto('seal_stragglers')
    .values(late.map((seq) => ({ entry_seq: seq, position: header.position })))
    .execute();
}
