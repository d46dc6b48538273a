/**
 * What the hash of a sealed position is made of. Pure. SHA-256 over the 32 bytes of the hash before it (zeros for the
 * first), then lines of JSON without spaces, each ended by a line feed: the position itself, then its entries in the
 * order of their numbers, then its rows of the audit in theirs. Nothing personal is in it, so that a person can be forgotten and the chain stays whole.
 */
import { createHash } from 'node:crypto';

export const HASH_BYTES = 32;
export const GENESIS_HASH = Buffer.alloc(HASH_BYTES);

export type SealHeader = {
  position: number;
  entrySeq: number;
  eventSeq: number;
  mismatchChangeSeq: number;
  /** Its entries, as ranges of numbers. */
  members: string;
  sealedAt: Date;
  /** Null: sealed before rows of the audit were, and hashed as then. */
  audit: { seq: number; members: string } | null;
};

/** A row of the audit as it is sealed. */
export type SealedAuditRow = {
  seq: number;
  id: string | null;
  at: Date;
  actor: string;
  action: string;
  target: string;
  detail: string | null;
};

/** An entry as it is sealed: with its transaction's id, its event, its accounts' names. */
export type SealedEntry = {
  seq: number;
  kind: string;
  transactionId: string | null;
  event: { status: string; atWall: string; occurrence: number } | null;
  reversesSeq: number | null;
  platform: string;
  atWall: string;
  recordedAt: Date;
  source: { kind: string; webhookSeq: number | null; runSeq: number | null; page: number | null };
  /** In their order. */
  postings: { account: string; accountSeq: number; atWall: string; cents: bigint }[];
};

/** @param entries in the order of their numbers, as `audit` is. */
export function hashSeal(
  previous: Buffer,
  header: SealHeader,
  entries: SealedEntry[],
  audit: SealedAuditRow[] = [],
): Buffer {
  const hash = createHash('sha256').update(previous);
  hash.update(
    renderLine([
      'seal',
      header.position,
      header.entrySeq,
      header.eventSeq,
      header.mismatchChangeSeq,
      header.members,
      header.sealedAt.toISOString(),
      ...(header.audit ? [header.audit.seq, header.audit.members] : []),
    ]),
  );
  for (const entry of entries) hash.update(renderEntry(entry));
  for (const row of audit) hash.update(renderAudit(row));
  return hash.digest();
}

function renderEntry(entry: SealedEntry): string {
  const { event, source } = entry;
  return renderLine([
    entry.seq,
    entry.kind,
    entry.transactionId,
    event && [event.status, event.atWall, event.occurrence],
    entry.reversesSeq,
    entry.platform,
    entry.atWall,
    entry.recordedAt.toISOString(),
    [source.kind, source.webhookSeq, source.runSeq, source.page],
    entry.postings.map((posting) => [posting.account, posting.atWall, String(posting.cents)]),
  ]);
}

function renderAudit({ seq, id, at, actor, action, target, detail }: SealedAuditRow): string {
  return renderLine(['audit', seq, id, at.toISOString(), actor, action, target, detail]);
}

function renderLine(values: unknown[]): string {
  return `${JSON.stringify(values)}\n`;
}
