import { type Selectable, sql, type Transaction } from 'kysely';
import type { Database } from '../../database/tables.ts';
import { groupValues } from '../../domain/lists.ts';
import type { Operation } from '../../domain/statuses.ts';
import type { ExpectedFacts, KeyRule } from '../decide/facts.ts';

export type Head = Selectable<Database['expected_payments']>;
/** `extra`: its text, unless it was erased. */
export type LoadedExpected = { head: Head; facts: ExpectedFacts; extra: string | null };

/** Locks expected payments by their row numbers, and reads what they are matched by. @param isLocking false: only reads. */
export async function lockExpected(
  trx: Transaction<Database>,
  seqs: number[],
  isLocking = true,
): Promise<LoadedExpected[]> {
  if (seqs.length === 0) return [];
  const { rows: heads } = await sql<Head>`SELECT * FROM expected_payments FORCE INDEX (PRIMARY)
    WHERE seq IN (${sql.join(seqs)}) ORDER BY seq ${isLocking ? sql`FOR UPDATE` : sql``}`.execute(trx);
  const versions = heads.map((head) => head.version_seq);
  if (versions.length === 0) return [];
  const keys = groupValues(
    await trx
      .selectFrom('expected_keys')
      .select(['version_seq', 'kind', 'value'])
      .where('version_seq', 'in', versions)
      .execute(),
    (row) => row.version_seq,
    (row) => row,
  );
  const texts = await trx
    .selectFrom('expected_texts')
    .select(['version_seq', 'extra'])
    .where('version_seq', 'in', versions)
    .where('extra', 'is not', null)
    .execute();
  const extras = new Map(texts.map((row) => [row.version_seq, row.extra]));
  return heads.map((head) => {
    const own = keys.get(head.version_seq) ?? [];
    const valuesOf = (kind: KeyRule) => new Set(own.filter((key) => key.kind === kind).map(({ value }) => value));
    const facts: ExpectedFacts = {
      ...{ seq: head.seq, source: head.source, operation: head.operation as Operation, platform: head.platform },
      amountCents: head.amount_cents,
      keys: { reference: valuesOf('reference'), e2e_id: valuesOf('e2e_id'), invoice: valuesOf('invoice') },
      ...{ extraHash: toHex(head.extra_hash), documentHash: toHex(head.document_hash) },
      ...{ issuedDay: head.issued_day, dueDay: head.due_day, isCancelled: head.is_cancelled === 1 },
    };
    return { head, facts, extra: extras.get(head.version_seq) ?? null };
  });
}

function toHex(hash: Buffer | null): string | null {
  return hash?.toString('hex') ?? null;
}
