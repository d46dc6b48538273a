/**
 * An independent implementation of the hash chain, from docs/log.md: it reads the rows with plain SQL and hashes
 * them. It shares no code with the program.
 */
import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../../src/database/tables.ts';

type SealRow = {
  position: number;
  entry_seq: number;
  event_seq: number;
  mismatch_change_seq: number;
  members: string;
  previous_hash: Buffer;
  hash: Buffer;
  sealed_at: Date;
  audit_seq: number | null;
  audit_members: string | null;
};

/** Returns the positions whose hash does not match their entries, and all sealed entries. */
export async function referenceChain(db: Kysely<Database>): Promise<{ wrong: number[]; sealed: number[] }> {
  const { rows: seals } = await sql<SealRow>`SELECT * FROM seals ORDER BY position`.execute(db);
  const wrong: number[] = [];
  const sealed: number[] = [];
  let previous = Buffer.alloc(32);
  for (const seal of seals) {
    const members = numbersIn(seal.members);
    sealed.push(...members);
    const { position, entry_seq, event_seq, mismatch_change_seq } = seal;
    const head = ['seal', position, entry_seq, event_seq, mismatch_change_seq, seal.members, toIso(seal.sealed_at)];
    if (seal.audit_seq !== null) head.push(seal.audit_seq, seal.audit_members ?? '');
    const audit = await readAuditLines(db, numbersIn(seal.audit_members ?? ''));
    const lines = [head, ...(await readLines(db, members)), ...audit].map((line) => `${JSON.stringify(line)}\n`);
    const hash = createHash('sha256').update(previous).update(lines.join('')).digest();
    if (!hash.equals(seal.hash) || !previous.equals(seal.previous_hash)) wrong.push(position);
    previous = Buffer.from(seal.hash);
  }
  return { wrong, sealed: sealed.sort((a, b) => a - b) };
}

function numbersIn(members: string): number[] {
  return members.split(',').flatMap((run) => {
    const [first = 0, last = first] = run.split('-').map(Number);
    return run === '' ? [] : Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

type AuditRow = Record<'id' | 'actor' | 'action' | 'target' | 'detail', string | null> & { seq: number; at: Date };

async function readAuditLines(db: Kysely<Database>, members: number[]): Promise<unknown[][]> {
  if (members.length === 0) return [];
  const { rows } = await sql<AuditRow>`SELECT * FROM audit WHERE seq IN (${sql.join(members)}) ORDER BY seq`.execute(
    db,
  );
  return rows.map((row) => ['audit', row.seq, row.id, toIso(row.at), row.actor, row.action, row.target, row.detail]);
}

type EntryRow = {
  seq: number;
  kind: string;
  id: string | null;
  status: string | null;
  event_wall: string;
  occurrence: number;
  reverses_seq: number | null;
  platform: string;
  at_wall: string;
  recorded_at: Date;
  source_kind: string;
  source_webhook_seq: number | null;
  source_run_seq: number | null;
  source_page: number | null;
};

type PostingRow = { entry_seq: number; name: string; at_wall: string; amount_cents: bigint };

async function readLines(db: Kysely<Database>, members: number[]): Promise<unknown[][]> {
  if (members.length === 0) return [];
  const { rows } = await sql<EntryRow>`SELECT e.*, t.id, v.status, v.at_wall AS event_wall, v.occurrence
    FROM entries e LEFT JOIN transactions t ON t.seq = e.transaction_seq LEFT JOIN events v ON v.seq = e.event_seq
    WHERE e.seq IN (${sql.join(members)})`.execute(db);
  const { rows: postings } = await sql<PostingRow>`
    SELECT p.entry_seq, a.name, p.at_wall, p.amount_cents FROM postings p JOIN accounts a ON a.seq = p.account_seq
    WHERE p.entry_seq IN (${sql.join(members)}) ORDER BY p.entry_seq, p.position`.execute(db);
  const entries = new Map(rows.map((row) => [row.seq, row]));
  const ofEntry = Map.groupBy(postings, (posting) => posting.entry_seq);
  return members.flatMap((seq) => {
    const row = entries.get(seq);
    return row ? [lineOf(row, ofEntry.get(seq) ?? [])] : [];
  });
}

function lineOf(row: EntryRow, postings: PostingRow[]): unknown[] {
  return [
    row.seq,
    row.kind,
    row.id,
    row.status === null ? null : [row.status, row.event_wall, row.occurrence],
    row.reverses_seq,
    row.platform,
    row.at_wall,
    toIso(row.recorded_at),
    [row.source_kind, row.source_webhook_seq, row.source_run_seq, row.source_page],
    postings.map((posting) => [posting.name, posting.at_wall, posting.amount_cents.toString()]),
  ];
}

function toIso(at: Date): string {
  return at.toISOString();
}
