import { maskText, type Party } from '../domain/person/mask-person.ts';
import type { Reader } from './reader.ts';

/** Reads the source and the number of expected payments, by their ids. @param mask whether numbers may name a person. */
export async function readOrderKeys(
  db: Reader,
  ids: readonly string[],
  { mask }: { mask: boolean },
): Promise<Map<string, { source: string; number: string }>> {
  const rows = ids.length === 0 ? [] : await selectOrderKeys(db).where('head.id', 'in', ids).execute();
  return new Map(
    rows.map((row) => [row.id, { source: row.source, number: mask ? maskNumber(row) : row.number }] as const),
  );
}

export function selectOrderKeys(db: Reader) {
  return db
    .selectFrom('expected_payments as head')
    .leftJoin('expected_texts as texts', 'texts.version_seq', 'head.version_seq')
    .select(['head.id', 'head.source', 'head.number', 'texts.name', 'texts.document']);
}

/** A number may hold a document. */
export function maskNumber({ number, name, document }: Pick<Party, 'name' | 'document'> & { number: string }): string {
  return maskText(number, { name, document, email: null, phone: null, pix_key: null });
}
