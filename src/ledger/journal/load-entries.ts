import type { Transaction } from 'kysely';
import { compileOnce } from '../../database/compile-once.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import type { Database } from '../../database/tables.ts';
import { groupValues } from '../../domain/lists.ts';
import type { EntryInForce } from './diff-entries.ts';

/** Reads the entries of these transactions that are neither reversals nor reversed, with their postings. */
export async function loadEntriesInForce(
  trx: Transaction<Database>,
  seqs: number[],
): Promise<Map<number, EntryInForce[]>> {
  const { rows } = await selectEntries(trx, { seqs });
  const entries = new Map<number, EntryInForce & { transactionSeq: number }>();
  for (const row of rows) {
    const entry = entries.get(row.seq) ?? {
      seq: row.seq,
      kind: row.kind,
      eventSeq: row.event_seq,
      atWall: row.at_wall,
      platform: row.platform,
      postings: [],
      transactionSeq: requireRowNumber(row.transaction_seq, 'the transaction of an entry'),
    };
    entry.postings.push({ account: row.account, cents: row.amount_cents });
    entries.set(row.seq, entry);
  }
  return groupValues(
    [...entries.values()],
    (entry) => entry.transactionSeq,
    (entry) => entry,
  );
}

const selectEntries = compileOnce((db, { seqs }: { seqs: number[] }) =>
  db
    .selectFrom('entries')
    .leftJoin('entries as reversal', 'reversal.reverses_seq', 'entries.seq')
    .innerJoin('postings', 'postings.entry_seq', 'entries.seq')
    .innerJoin('accounts', 'accounts.seq', 'postings.account_seq')
    .select([
      'entries.seq',
      'entries.kind',
      'entries.transaction_seq',
      'entries.event_seq',
      'entries.at_wall',
      'entries.platform',
      'accounts.name as account',
      'postings.amount_cents',
    ])
    .where('entries.transaction_seq', 'in', seqs)
    .where('entries.reverses_seq', 'is', null)
    .where('reversal.seq', 'is', null)
    .orderBy('entries.seq')
    .orderBy('postings.position'),
);
