import { createHmac } from 'node:crypto';
import { foldName, normalizeDocument } from '../../domain/person/fold-person.ts';
import { WORD_CHARS_MAX, WORD_CHARS_MIN } from '../../domain/person/split-words.ts';
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

/** Bytes of the hash of a word's first characters, and of each longer beginning: two differ but once in 16 million. */
const FIRST_BYTES = 6;
const NEXT_BYTES = 3;
const WORD_BYTES_MAX = FIRST_BYTES + NEXT_BYTES * (WORD_CHARS_MAX - WORD_CHARS_MIN);

/**
 * A word as `search_words` stores it: the keyed hashes of its beginnings, the shortest first. So the words with one beginning stand
 * together in the index, in one row each, and the table holds no letter of them.
 * @param word as splitWords gives it.
 */
export function indexWord(keys: Keys, word: string): Buffer {
  const chars = [...word];
  const hashes: Buffer[] = [];
  for (let length = WORD_CHARS_MIN; length <= chars.length; length++) {
    const hmac = createHmac('sha256', keys.search).update('word ').update(chars.slice(0, length).join(''));
    hashes.push(hmac.digest().subarray(0, length === WORD_CHARS_MIN ? FIRST_BYTES : NEXT_BYTES));
  }
  return Buffer.concat(hashes);
}

/** The first and the last stored word, both included, that begin with this one. */
export function rangeOfWord(keys: Keys, beginning: string): { first: Buffer; last: Buffer } {
  const first = indexWord(keys, beginning);
  return { first, last: Buffer.concat([first, Buffer.alloc(WORD_BYTES_MAX - first.length, 0xff)]) };
}

/** The search columns of `parties`. */
export function indexParty(keys: Keys, party: { name: string | null; document: string | null }) {
  return {
    document_hash: normalizeDocument(party.document) === null ? null : hashDocument(keys, party.document ?? ''),
    name_folded: party.name === null ? null : indexName(party.name),
  };
}
