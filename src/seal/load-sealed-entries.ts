import type { Expression, SqlBool } from 'kysely';
import { expressionBuilder } from 'kysely';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import { ConfereError } from '../domain/errors.ts';
import type { SealedEntry } from './hash-seal.ts';

/** Selects entries: a range of numbers (`after` < seq ≤ `to`, at most `limit`), or single ones. */
export type EntrySelection = { after: number; to: number; limit: number } | { seqs: number[] };

/** Returns the names of all accounts by number: a few for each platform. */
export async function readAccountNames(db: Reader): Promise<Map<number, string>> {
  const rows = await db.selectFrom('accounts').select(['seq', 'name']).execute();
  return new Map(rows.map((row) => [row.seq, row.name]));
}

/**
 * Returns entries as they are sealed, by number: three statements, by key.
 * @param unnamed for a posting whose account is missing: use its number as the name, or throw.
 */
export async function loadSealedEntries(
  db: Reader,
  choice: EntrySelection,
  unnamed: 'number' | 'error' = 'number',
): Promise<SealedEntry[]> {
  if ('seqs' in choice && choice.seqs.length === 0) return [];
  const rows = await readEntryRows(db, choice);
  const [first, last] = [rows[0]?.seq, rows.at(-1)?.seq];
  if (first === undefined || last === undefined) return [];
  const entries = rows.map((row): SealedEntry => {
    const { status, eventAtWall, occurrence, source_kind: kind, webhookSeq, runSeq, page, ...entry } = row;
    return {
      ...entry,
      event:
        status === null || eventAtWall === null || occurrence === null
          ? null
          : { status, atWall: eventAtWall, occurrence },
      source: { kind, webhookSeq, runSeq, page },
      postings: [],
    };
  });
  const bySeq = new Map(entries.map((entry) => [entry.seq, entry]));
  const postings = await readPostingRows(
    db,
    'seqs' in choice ? choice : { after: first - 1, to: last, limit: choice.limit },
  );
  // after the postings: an account exists before its first posting
  const accounts = await readAccountNames(db);
  for (const row of postings) {
    const account = accounts.get(row.account_seq) ?? `#${row.account_seq}`;
    if (unnamed === 'error' && !accounts.has(row.account_seq)) {
      throw new ConfereError(
        'books_broken',
        `a posting of en_${row.entry_seq} names account ${account}, which is not there`,
      );
    }
    bySeq
      .get(row.entry_seq)
      ?.postings.push({ account, accountSeq: row.account_seq, atWall: row.at_wall, cents: row.amount_cents });
  }
  return entries;
}

async function readEntryRows(db: Reader, choice: EntrySelection) {
  let query = db
    .selectFrom('entries')
    .leftJoin('transactions', 'transactions.seq', 'entries.transaction_seq')
    .leftJoin('events', 'events.seq', 'entries.event_seq')
    .select(['entries.seq', 'entries.kind', 'entries.reverses_seq as reversesSeq', 'entries.platform'])
    .select(['entries.at_wall as atWall', 'entries.recorded_at as recordedAt', 'transactions.id as transactionId'])
    .select(['entries.source_kind', 'entries.source_webhook_seq as webhookSeq'])
    .select(['entries.source_run_seq as runSeq', 'entries.source_page as page'])
    .select(['events.status', 'events.at_wall as eventAtWall', 'events.occurrence'])
    .where(chosen('entries.seq', choice))
    .orderBy('entries.seq');
  if ('limit' in choice) query = query.limit(choice.limit);
  return await query.execute();
}

async function readPostingRows(db: Reader, choice: EntrySelection) {
  return await db
    .selectFrom('postings')
    .select(['entry_seq', 'account_seq', 'at_wall', 'amount_cents'])
    .where(chosen('postings.entry_seq', choice))
    .orderBy('entry_seq')
    .orderBy('position')
    .execute();
}

function chosen(column: 'entries.seq' | 'postings.entry_seq', choice: EntrySelection): Expression<SqlBool> {
  const eb = expressionBuilder<Database, 'entries' | 'postings'>();
  if ('seqs' in choice) return eb(column, 'in', choice.seqs);
  return eb.and([eb(column, '>', choice.after), eb(column, '<=', choice.to)]);
}
