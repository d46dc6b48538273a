/**
 * The input of a seal's hash. Pure. SHA-256 over the 32 bytes of the previous hash (zeros for the first), then lines of
 * JSON without spaces, each ended by a line feed: the seal's header, its entries by number, its audit rows by number.
 * It contains nothing personal, so a person can be forgotten and the chain stays valid.
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
  /** Null: sealed, and hashed, by a version that did not seal audit rows. */
  audit: { seq: number; members: string } | null;
};

/** An audit row as it is sealed. */
export type SealedAuditRow = {
  seq: number;
  id: string | null;
  at: Date;
  actor: string;
  action: string;
  target: string;
  detail: string | null;
};

/** An entry as it is sealed: with its transaction's id, its event and the names of its accounts. */
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
  /** In their stored order. */
  postings: { account: string; accountSeq: number; atWall: string; cents: bigint }[];
};

/** @param entries by number, as `audit` is. */
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
