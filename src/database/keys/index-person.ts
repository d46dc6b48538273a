import { createHmac } from 'node:crypto';
import { foldName, normalizeDocument } from '../../domain/person/fold-person.ts';
import type { Keys } from './settings.ts';

/** The folded name is kept so far: longer beginnings are compared by these bytes. */
const NAME_BYTES_MAX = 128;

/**
 * A document's keyed hash: it finds the document's transactions, and is what is left of a person who was forgotten.
 * Without the key, which is stored encrypted, trying all documents tells nothing.
 */
export function hashDocument(keys: Keys, document: string): Buffer {
  const normalized = normalizeDocument(document) ?? '';
  return createHmac('sha256', keys.search).update('document ').update(normalized).digest();
}

/** A name as its column holds it, to be found by any beginning of it. */
export function indexName(name: string): Buffer {
  return Buffer.from(foldName(name)).subarray(0, NAME_BYTES_MAX);
}

/** The columns of `parties` that the search stands on. */
export function indexParty(keys: Keys, party: { name: string | null; document: string | null }) {
  return {
    document_hash: normalizeDocument(party.document) === null ? null : hashDocument(keys, party.document ?? ''),
    name_folded: party.name === null ? null : indexName(party.name),
  };
}
