import { sql, type Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';
import type { SealedEntry } from './hash-seal.ts';

/** Each posting counts into three sums: of its month, day and hour. A span is that prefix of its wall clock. */
export const GRAINS = [
  { grain: 'month', chars: 7 },
  { grain: 'day', chars: 10 },
  { grain: 'hour', chars: 13 },
] as const;

const ROWS_PER_INSERT = 500;

/** Adds the postings of sealed entries to the balances, which only the sealer writes. */
export async function deriveBalances(trx: Transaction<Database>, entries: SealedEntry[]): Promise<void> {
  const postings = entries.flatMap((entry) => entry.postings);
  await addToSpans(trx, 'balance_spans', { grains: GRAINS, postings });
}

/** Adds postings to the sums of a table by span and account. */
export async function addToSpans(
  trx: Transaction<Database>,
  table: 'balance_spans' | 'refund_spans',
  { grains, postings }: { grains: readonly (typeof GRAINS)[number][]; postings: SealedEntry['postings'] },
): Promise<void> {
  const sums = new Map<string, { grain: string; span: string; account_seq: number; amount_cents: bigint }>();
  for (const { grain, chars } of grains) {
    for (const posting of postings) {
      const span = posting.atWall.slice(0, chars);
      const key = `${span} ${posting.accountSeq}`;
      const row = sums.get(key) ?? { grain, span, account_seq: posting.accountSeq, amount_cents: 0n };
      row.amount_cents += posting.cents;
      sums.set(key, row);
    }
  }
  const rows = [...sums.values()].filter((row) => row.amount_cents !== 0n);
  for (let start = 0; start < rows.length; start += ROWS_PER_INSERT) {
    await trx
      .insertInto(table)
      .values(rows.slice(start, start + ROWS_PER_INSERT))
      .onDuplicateKeyUpdate({ amount_cents: sql`amount_cents + VALUES(amount_cents)` })
      .execute();
  }
}
