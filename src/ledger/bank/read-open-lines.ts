import type { Reader } from '../../database/reader.ts';
import type { Day } from '../../domain/calendar.ts';
import { listLineNames, type OpenLine } from './decide-matches.ts';
import { matchOfLine } from './standing-matches.ts';

/** Reads the lines without a match. A line of zero moves nothing and needs none. @param since their first day. */
export async function readOpenLines(db: Reader, since: Day): Promise<OpenLine[]> {
  const rows = await db
    .selectFrom('bank_lines')
    .leftJoin('bank_line_texts', 'bank_line_texts.line_seq', 'bank_lines.seq')
    .select(['seq', 'day', 'amount_cents', 'fitid', 'name', 'memo', 'check_number', 'reference_number'])
    .where('day', '>=', since)
    .where('amount_cents', '!=', 0n)
    .where(matchOfLine('bank_lines.seq'), 'is', null)
    .orderBy('seq')
    .execute();
  return rows.map((row) => ({
    seq: row.seq,
    day: row.day,
    cents: row.amount_cents,
    ...listLineNames([row.fitid, row.check_number, row.reference_number], [row.name, row.memo]),
  }));
}
