/**
 * A match stands until a person undoes it, or its entry is reversed: then the line and the entry are open again. Nothing is
 * changed in the table, so every reader asks for standing matches in these words.
 */
import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Database } from '../../database/tables.ts';

const LOCK = 'bank_matching';

const STANDS = sql`matched.undoes_seq IS NULL
  AND NOT EXISTS (SELECT 1 FROM bank_matches undone WHERE undone.undoes_seq = matched.seq)
  AND NOT EXISTS (SELECT 1 FROM entries reversal WHERE reversal.reverses_seq = matched.entry_seq)`;

/** SQL: the standing match of a line, or null. @param line a column, such as `bank_lines.seq`. */
export function matchOfLine(line: string): RawBuilder<number | null> {
  return sql<number | null>`(SELECT matched.seq FROM bank_matches matched
    WHERE matched.line_seq = ${sql.ref(line)} AND ${STANDS} ORDER BY matched.seq LIMIT 1)`;
}

/** SQL: whether an entry that is in force has a standing match. @param entry a column, such as `entries.seq`. */
export function isEntryMatched(entry: string): RawBuilder<boolean> {
  return sql<boolean>`EXISTS (SELECT 1 FROM bank_matches matched
    WHERE matched.entry_seq = ${sql.ref(entry)} AND ${STANDS})`;
}

/** Locks the matches against other writers, so that no line and no entry gets two. */
export async function lockMatching(trx: Transaction<Database>): Promise<void> {
  const value = Buffer.from('1');
  await trx.insertInto('settings').values({ name: LOCK, value }).onDuplicateKeyUpdate({ value }).execute();
}
