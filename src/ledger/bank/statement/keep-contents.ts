import type { Context } from '../../../context.ts';
import { hashContent } from './identify-lines.ts';

/**
 * Stores what lines are, as a keyed hash, where it is not stored: 0.1.0 did not. It comes before their texts are erased, so that
 * a line of a forgotten person is known again.
 */
export async function keepContents({ db, keys }: Pick<Context, 'db' | 'keys'>, lineSeqs: number[]): Promise<void> {
  const rows = await db
    .selectFrom('bank_line_texts')
    .innerJoin('bank_lines', 'bank_lines.seq', 'bank_line_texts.line_seq')
    .select(['line_seq', 'day', 'amount_cents', 'name', 'memo'])
    .where('line_seq', 'in', lineSeqs)
    .where('content_hash', 'is', null)
    .execute();
  for (const { line_seq, day, amount_cents: cents, name, memo } of rows) {
    await db
      .updateTable('bank_line_texts')
      .set({ content_hash: hashContent(keys, { day, cents, name, memo }) })
      .where('line_seq', '=', line_seq)
      .where('content_hash', 'is', null)
      .execute();
  }
}
