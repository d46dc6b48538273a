import { createHmac } from 'node:crypto';
import type { Context } from '../../context.ts';
import type { StatementLine } from './bank-statement.ts';

/** A line with what identifies it in its account. */
export type BankLine = StatementLine & {
  hash: Buffer;
  /** Of a line without FITID: its number among equal lines of the day, from 1. */
  occurrence: number | null;
};

/**
 * Identifies the lines of one account in a file: by FITID, or, where the bank gave none, by the day, the amount, the texts and a
 * number among lines that are equal in all of these. Files that hold whole days identify a line in the same way.
 */
export function identifyLines(keys: Context['keys'], lines: readonly StatementLine[]): BankLine[] {
  const counts = new Map<string, number>();
  return lines.map((line) => {
    if (line.fitid !== '') return { ...line, hash: hashIdentity(keys, 'fitid ', line.fitid), occurrence: null };
    const { day, cents, name, memo, checkNumber, referenceNumber } = line;
    const facts = JSON.stringify([day, String(cents), name, memo, checkNumber, referenceNumber]);
    const occurrence = (counts.get(facts) ?? 0) + 1;
    counts.set(facts, occurrence);
    return { ...line, hash: hashIdentity(keys, 'line ', `${occurrence} ${facts}`), occurrence };
  });
}

/** Keyed: an identity may hold a document, and a plain hash of one could be found by trying all. */
function hashIdentity(keys: Context['keys'], kind: 'fitid ' | 'line ', identity: string): Buffer {
  return createHmac('sha256', keys.search).update(kind).update(identity).digest();
}
