import type { Kysely, Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { insertReturning, insertRows } from '../../database/insert-returning.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import type { Database } from '../../database/tables.ts';
import { InvariantError } from '../../domain/errors.ts';
import type { Source } from '../../domain/observation.ts';
import type { StoredEvent } from '../../domain/sort-history.ts';
import type { EntryInForce } from './diff-entries.ts';
import type { PlannedEntry, Posting } from './plan-entries.ts';
import { sourceColumns } from './source-columns.ts';

/** The source of an entry: an observation, or a person's statement, whose row references the entry. */
export type EntrySource = Source | { kind: 'person' };

export type JournalChange = {
  transactionSeq: number | null;
  source: EntrySource;
  /** Sources of new events; their entries get the same source. */
  sources?: Map<StoredEvent, Source>;
  reverse: EntryInForce[];
  post: (Omit<PlannedEntry<StoredEvent>, 'kind'> & { kind: string })[];
};

type Draft = {
  kind: string;
  transaction_seq: number | null;
  event_seq: number | null;
  reverses_seq: number | null;
  platform: string;
  at_wall: string;
  source: EntrySource;
  postings: Posting[];
};

/**
 * Appends reversals and entries with their postings: two inserts, however many transactions. Every entry sums to zero.
 * @returns the row numbers of the entries, in the order of `changes`, reversals first in each.
 */
export async function writeEntries(
  context: Context,
  trx: Transaction<Database>,
  changes: JournalChange[],
  now: Date,
): Promise<number[]> {
  const drafts = changes.flatMap((change) => draftEntries(change));
  if (drafts.length === 0) return [];
  for (const draft of drafts) assertBalanced(draft);
  const accounts = await findAccounts(
    context.db,
    new Set(drafts.flatMap((draft) => draft.postings.map((p) => p.account))),
  );
  const seqs = await insertEntries(context, trx, drafts, now);
  const postings = drafts.flatMap((draft, index) =>
    draft.postings.map((posting, position) => ({
      entry_seq: requireRowNumber(seqs[index], 'a new entry'),
      position,
      // without its name: a platform, and so an account's name, may contain a document
      account_seq: requireRowNumber(accounts.get(posting.account), `account ${position + 1} of a new ${draft.kind}`),
      at_wall: draft.at_wall,
      amount_cents: posting.cents,
    })),
  );
  await insertRows(trx, 'postings', postings);
  return seqs;
}

function draftEntries(change: JournalChange): Draft[] {
  const base = { transaction_seq: change.transactionSeq, source: change.source };
  const reversals = change.reverse.map((entry) => ({
    ...base,
    kind: 'reversal',
    event_seq: entry.eventSeq,
    reverses_seq: entry.seq,
    platform: entry.platform,
    at_wall: entry.atWall,
    postings: entry.postings.map(({ account, cents }) => ({ account, cents: -cents })),
  }));
  const posted = change.post.map((entry) => ({
    ...base,
    source: (entry.event && change.sources?.get(entry.event)) ?? change.source,
    kind: entry.kind,
    // only an amount held when the books opened has no event
    event_seq: entry.event === undefined ? null : requireRowNumber(entry.event.seq, 'the event of an entry'),
    reverses_seq: null,
    platform: entry.platform,
    at_wall: entry.atWall,
    postings: entry.postings,
  }));
  return [...reversals, ...posted];
}

function assertBalanced(draft: Draft): void {
  const sum = draft.postings.reduce((total, posting) => total + posting.cents, 0n);
  if (sum !== 0n) throw new InvariantError(`an entry of kind ${draft.kind} does not sum to zero`);
}

/** @returns the entries' row numbers, matched by what they reverse, or by transaction, event and kind. */
async function insertEntries(
  context: Context,
  trx: Transaction<Database>,
  drafts: Draft[],
  now: Date,
): Promise<number[]> {
  const written = drafts.map(({ source, postings: _, ...row }) => ({
    ...row,
    recorded_at: now,
    ...sourceColumns(source),
  }));
  const insertion = { table: 'entries', rows: written } as const;
  const rows = await insertReturning(context, trx, insertion, ENTRY_KEY, () => findEntries(trx, drafts, now));
  const seqOf = new Map(rows.map((row) => [entryKey(row), row.seq]));
  return drafts.map((draft) => {
    const seq = seqOf.get(entryKey(draft));
    if (seq === undefined) throw new InvariantError(`an entry of kind ${draft.kind} was written but is not found`);
    return seq;
  });
}

const ENTRY_KEY = ['seq', 'kind', 'transaction_seq', 'event_seq', 'reverses_seq', 'at_wall', 'platform'] as const;

/**
 * Reads back entries just written: the newest of each key. This writer holds the lock of the transactions, so no other
 * can have written newer ones.
 */
async function findEntries(trx: Transaction<Database>, drafts: Draft[], now: Date) {
  return await trx
    .selectFrom('entries')
    .select(ENTRY_KEY)
    .where((eb) => {
      const transactions = [...new Set(drafts.map((draft) => draft.transaction_seq).filter((seq) => seq !== null))];
      if (transactions.length > 0) return eb('transaction_seq', 'in', transactions);
      // stated entries are written one at a time, under the lock of the policies
      return eb.and([eb('transaction_seq', 'is', null), eb('recorded_at', '=', now)]);
    })
    .orderBy('seq')
    .execute();
}

function entryKey(entry: Omit<Draft, 'source' | 'postings'>): string {
  return [entry.kind, entry.transaction_seq, entry.event_seq, entry.reverses_seq, entry.platform, entry.at_wall].join(
    ' ',
  );
}

const known = new WeakMap<Kysely<Database>, Map<string, number>>();

/**
 * Returns account numbers by name. New accounts are inserted outside of the caller's transaction, so that appliers do
 * not wait for each other.
 */
async function findAccounts(db: Kysely<Database>, names: Set<string>): Promise<Map<string, number>> {
  const cache = known.get(db) ?? new Map<string, number>();
  known.set(db, cache);
  const missing = [...names].filter((name) => !cache.has(name));
  if (missing.length === 0) return cache;
  const find = () => db.selectFrom('accounts').select(['seq', 'name']).where('name', 'in', missing).execute();
  for (const row of await find()) cache.set(row.name, row.seq);
  const absent = missing.filter((name) => !cache.has(name));
  if (absent.length > 0) {
    await db
      .insertInto('accounts')
      .values(absent.map((name) => ({ name })))
      .onDuplicateKeyUpdate((eb) => ({ name: eb.ref('accounts.name') }))
      .execute();
    for (const row of await find()) cache.set(row.name, row.seq);
  }
  return cache;
}
