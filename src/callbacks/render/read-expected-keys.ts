import type { Reader } from '../../database/reader.ts';
import { groupValues } from '../../domain/lists.ts';

/** Reads the references, E2E ids and codes of invoices of versions of expected payments, as they were given. @returns by version. */
export async function readExpectedKeys(
  db: Reader,
  versionSeqs: number[],
): Promise<Map<number, { kind: string; value: string }[]>> {
  if (versionSeqs.length === 0) return new Map();
  const rows = await db
    .selectFrom('expected_keys')
    .select(['version_seq', 'kind', 'value'])
    .where('version_seq', 'in', versionSeqs)
    .orderBy('seq')
    .execute();
  return groupValues(
    rows,
    (row) => row.version_seq,
    ({ kind, value }) => ({ kind, value }),
  );
}
