import { createHmac } from 'node:crypto';
import { foldName, normalizeDocument } from '../../domain/person/fold-person.ts';
import type { Keys } from './settings.ts';

/** A folded name is stored up to this length; a longer prefix is compared by these bytes. */
const NAME_BYTES_MAX = 128;

/**
 * Keyed hash of a document. It finds the document's transactions, and is all that remains of a forgotten person. An
 * unkeyed hash could be brute-forced over all documents; the key is stored encrypted.
 */
export function hashDocument(keys: Keys, document: string): Buffer {
  const normalized = normalizeDocument(document) ?? '';
  return createHmac('sha256', keys.search).update('document ').update(normalized).digest();
}

/** A name as the search column stores it, for prefix search. */
export function indexName(name: string): Buffer {
  return Buffer.from(foldName(name)).subarray(0, NAME_BYTES_MAX);
}

/** All byte strings that begin with these bytes: from `from` to before `end`. 0xff is above every byte of UTF-8. */
export function rangeOf(from: Buffer): { from: Buffer; end: Buffer } {
  return { from, end: Buffer.concat([from, Buffer.from([0xff])]) };
}

/** The search columns of `parties`. */
export function indexParty(keys: Keys, party: { name: string | null; document: string | null }) {
  return {
    document_hash: normalizeDocument(party.document) === null ? null : hashDocument(keys, party.document ?? ''),
    name_folded: party.name === null ? null : indexName(party.name),
  };
}
