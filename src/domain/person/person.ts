import type { Redact } from './redact-text.ts';

/** A person who is being forgotten, as every place that may hold something of them needs to know. */
export type Person = {
  /** The keyed hash of the document. */
  hash: Buffer;
  /** Their transactions, those that are done already too. */
  transactions: { seq: number; id: string }[];
  /** Of others, whose extra holds the document. */
  mentions: number[];
  /** Of others, whose PIX key is the document. */
  pixKeyOf: number[];
  /** Told of changes of mismatches before they are redacted: a report that shows one is known by nothing else. */
  recordMismatchChanges: (changes: number[]) => Promise<void>;
  /** SHA-256 of each text that is theirs alone: an extra may be known elsewhere by its plain hash. */
  hashes: Buffer[];
  /** Days of the provider's calendar whose reports may name them: asked last, since it counts what was remembered. */
  listReportDays: () => Promise<Set<string>>;
  /** Takes them out of a text. */
  redact: Redact;
  /** Whether a free text of a transaction of theirs holds a value of theirs. */
  holdsValue: (text: string) => boolean;
  /** Told of a row that cannot be gone through: it is left as it is. */
  onSkipped: (row: string) => void;
};

/** What a place did, or with `write: false` would do, and how many rows or files that is. */
export type Erase = (person: Person, options: { write: boolean }) => Promise<number>;
