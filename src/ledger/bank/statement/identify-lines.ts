import { createHmac } from 'node:crypto';
import type { Context } from '../../../context.ts';
import type { StatementLine } from './bank-statement.ts';

/** A line with what identifies it in its account. */
export type BankLine = StatementLine & {
  /** Hash of the FITID; of a line without one, of its day, amount, texts and occurrence. Unique in the account once it is stored. */
  hash: Buffer;
  /** Numbers equal lines of a day without FITID, from 1. */
  occurrence: number | null;
  /** Hash of the line's day, amount and text. */
  content: Buffer;
};

/** Identifies the lines of one account in a file. */
export function identifyLines(keys: Context['keys'], lines: readonly StatementLine[]): BankLine[] {
  const counts = new Map<string, number>();
  return lines.map((line) => {
    const content = hashContent(keys, line);
    if (line.fitid !== '')
      return { ...line, content, hash: hashIdentity(keys, 'fitid ', line.fitid), occurrence: null };
    const { day, cents, name, memo, checkNumber, referenceNumber } = line;
    const facts = JSON.stringify([day, String(cents), name, memo, checkNumber, referenceNumber]);
    const occurrence = (counts.get(facts) ?? 0) + 1;
    counts.set(facts, occurrence);
    return { ...line, content, hash: hashIdentity(keys, 'line ', `${occurrence} ${facts}`), occurrence };
  });
}

/** Hash of a line whose FITID another line of the account has: of both, and a number among those that are equal in both. */
export function hashRepeated(keys: Context['keys'], { fitid, content }: BankLine, count: number): Buffer {
  return hashIdentity(keys, 'again ', JSON.stringify([fitid, content.toString('hex'), count]));
}

type Content = Pick<StatementLine, 'day' | 'cents' | 'name' | 'memo'>;

/** Hash of what a line is. It stays when the texts are erased, so that a line of a forgotten person is known again. */
export function hashContent(keys: Context['keys'], line: Content): Buffer {
  return hashIdentity(keys, 'content ', JSON.stringify([line.day, String(line.cents), textOf(line)]));
}

/** The text of a line, with blanks folded: two downloads may differ in them. Some banks repeat the name in the memo. */
export function textOf({ name, memo }: Pick<StatementLine, 'name' | 'memo'>): string {
  const [short, long] = [name, memo].map((text) => text.normalize('NFC').replace(/\s+/g, ' ').trim());
  return long?.startsWith(short ?? '') ? long : `${short} ${long}`.trim();
}

/** Keyed: an identity may hold a document, and a plain hash of one could be found by trying all. */
function hashIdentity(keys: Context['keys'], kind: string, identity: string): Buffer {
  return createHmac('sha256', keys.search).update(kind).update(identity).digest();
}
