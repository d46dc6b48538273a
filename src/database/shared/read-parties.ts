import { maskText, type Party } from '../../domain/person/mask-person.ts';
import type { Reader } from '../reader.ts';

/** @returns the personal fields of transactions by id. Masking a text about a transaction needs them. */
export async function readParties(db: Reader, ids: string[]): Promise<Map<string, Party>> {
  if (ids.length === 0) return new Map();
  const rows = await selectParties(db)
    .where('transactions.id', 'in', [...new Set(ids)])
    .execute();
  return new Map(rows.map((row) => [row.id, toParty(row)]));
}

/** @returns the personal fields of transactions by reference, which several transactions may share. */
export async function readPartiesByReference(db: Reader, references: string[]): Promise<Map<string, Party[]>> {
  if (references.length === 0) return new Map();
  const rows = await selectParties(db)
    .where('transactions.reference', 'in', [...new Set(references)])
    .limit(SHARED_MAX)
    .execute();
  const grouped = Map.groupBy(rows, (row) => row.reference ?? '');
  return new Map([...grouped].map(([reference, some]) => [reference, some.map(toParty)]));
}

/** Upper bound on rows: a reference normally belongs to one transaction. */
const SHARED_MAX = 1_000;

type Row = Awaited<ReturnType<ReturnType<typeof selectParties>['execute']>>[number];

function toParty({ id: _, reference: __, forgotten_at: forgottenAt, ...party }: Row): Party {
  return { ...party, forgotten: forgottenAt !== null };
}

function selectParties(db: Reader) {
  return db
    .selectFrom('transactions')
    .innerJoin('parties', 'parties.transaction_seq', 'transactions.seq')
    .select([
      'transactions.id',
      'transactions.reference',
      'name',
      'email',
      'phone',
      'document',
      'pix_key',
      'forgotten_at',
    ]);
}

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
