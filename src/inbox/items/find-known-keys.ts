import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { createKeyedExtraHash } from '../../privacy/redact-forgotten.ts';
import type { ItemKey } from './fetch-transaction.ts';

/**
 * Finds the keys that the ledger knows: by id, else by reference, else by extra, in the order of the look-up.
 * @returns the known keys, as `formatItemKey` formats them.
 */
export async function findKnownKeys(
  { keys }: Pick<Context, 'keys'>,
  db: Reader,
  items: ItemKey[],
): Promise<Set<string>> {
  const known = new Set<string>();
  const ids = items.flatMap(({ transactionId }) => transactionId ?? []);
  const references = items.flatMap((item) => (item.transactionId === null ? (item.reference ?? []) : []));
  const extras = items.flatMap((item) =>
    item.transactionId === null && item.reference === null && item.extraHash ? [item.extraHash] : [],
  );
  if (ids.length > 0) {
    const spellings = [...new Set(ids.flatMap((id) => [id, id.toUpperCase()]))];
    const rows = await db.selectFrom('transactions').select('id').where('id', 'in', spellings).execute();
    for (const { id } of rows) known.add(`id ${id.toLowerCase()}`);
  }
  if (references.length > 0) {
    const names = [...new Set(references)];
    const select = db.selectFrom('transactions').select('reference').where('reference', 'in', names).distinct();
    for (const { reference } of await select.execute()) known.add(`reference ${reference}`);
  }
  if (extras.length > 0) {
    // the extra of a forgotten person is stored as the keyed hash of its hash
    const named = new Map(
      extras.flatMap((hash) => [hash, createKeyedExtraHash(keys, hash)].map((one) => [hex(one), hash])),
    );
    const hashes = [...named.keys()].map((one) => Buffer.from(one, 'hex'));
    const select = db.selectFrom('transactions').select('extra_hash').where('extra_hash', 'in', hashes).distinct();
    for (const { extra_hash } of await select.execute()) {
      const hash = extra_hash && named.get(hex(extra_hash));
      if (hash) known.add(`extra ${hex(hash)}`);
    }
  }
  return known;
}

/** The key by which an item is looked up, as text. */
export function formatItemKey({ transactionId, reference, extraHash }: ItemKey): string {
  if (transactionId !== null) return `id ${transactionId}`;
  return reference === null ? `extra ${extraHash && hex(extraHash)}` : `reference ${reference}`;
}

const hex = (hash: Buffer): string => hash.toString('hex');
