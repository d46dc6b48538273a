import { readExpectedKeys } from '../../callbacks/render/read-expected-keys.ts';
import type { Reader } from '../../database/reader.ts';
import type { Operation } from '../../domain/statuses.ts';
import type { GivenFacts } from '../expected-fields.ts';

/** `authorizations`: the codes (cAut) by which NF-es name their payments. */
export type StoredFacts = { facts: GivenFacts; authorizations: string[] };

/** Reads the facts of versions as they are shown, but for an issued day that is derived: an erased text is null. @returns by version. */
export async function readFacts(db: Reader, versionSeqs: number[]): Promise<Map<number, StoredFacts>> {
  if (versionSeqs.length === 0) return new Map();
  const rows = await db
    .selectFrom('expected_versions as version')
    .innerJoin('expected_payments as head', 'head.id', 'version.expected_id')
    .innerJoin('expected_texts as texts', 'texts.version_seq', 'version.seq')
    .select([
      'version.seq',
      'head.operation',
      'version.amount_cents as amount',
      'version.due_day',
      'version.issued_day',
    ])
    .select(['version.valid_until', 'version.platform', 'version.invoice_key', 'version.revised_at'])
    .select(['texts.extra', 'texts.document', 'texts.name', 'texts.description'])
    .where('version.seq', 'in', versionSeqs)
    .execute();
  const keys = await readExpectedKeys(db, versionSeqs);
  return new Map(
    rows.map(({ seq, operation, revised_at, ...facts }) => {
      const valuesOf = (kind: string) => (keys.get(seq) ?? []).flatMap((one) => (one.kind === kind ? [one.value] : []));
      const lists = { references: valuesOf('reference'), e2e_ids: valuesOf('e2e_id') };
      // cast: only these operations are stored
      const own = { operation: operation as Operation, revised_at: revised_at?.toISOString() ?? null };
      return [seq, { facts: { ...facts, ...lists, ...own }, authorizations: valuesOf('invoice') }];
    }),
  );
}
