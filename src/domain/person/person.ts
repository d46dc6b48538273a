import type { Redact } from './redact-text.ts';

/** A person who is being forgotten: what each place that stores personal data needs for it. */
export type Person = {
  /** The keyed hash of the document. */
  hash: Buffer;
  /** All transactions of the person, also those that are redacted already. */
  transactions: { seq: number; id: string }[];
  /** Transactions of others whose extra contains the document. */
  mentions: number[];
  /** Transactions of others whose PIX key is the document. */
  pixKeyOf: number[];
  /** Called with changes of mismatches before they are redacted: only they identify the reports that show them. */
  recordMismatchChanges: (changes: number[]) => Promise<void>;
  /** Called with versions of expected payments that name the person before they are redacted, for the same reason. */
  recordExpected: (versionSeqs: number[]) => Promise<void>;
  /** SHA-256 of each text that only this person has: an extra may be stored elsewhere as its plain hash. */
  hashes: Buffer[];
  /** Days whose reports may name the person. Call it last: it includes what was recorded. */
  listReportDays: () => Promise<Set<string>>;
  /** Redacts the person from a text. */
  redact: Redact;
  /** Whether a free text of the person's own transaction contains a value of the person. */
  holdsValue: (text: string) => boolean;
  /** Called with a row that can't be parsed: it is not changed. */
  onSkipped: (row: string) => void;
  /** Called with a row that names the person and that only an operator can change. */
  onLeft: (row: string) => void;
};

/** Erases a person from one place. @returns how many rows or files change; with `write: false`, how many would. */
export type Erase = (person: Person, options: { write: boolean }) => Promise<number>;
