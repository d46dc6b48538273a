import { createHash } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { insertReturning, insertRows } from '../../database/insert-returning.ts';
import { indexParty } from '../../database/keys/index-person.ts';
import type { Keys } from '../../database/keys/settings.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import { runTogether } from '../../database/run-together.ts';
import type { Database } from '../../database/tables.ts';
import { InvariantError } from '../../domain/errors.ts';
import type { Source } from '../../domain/observation.ts';
import { eventKey, type StoredEvent } from '../../domain/sort-history.ts';
import { readWithheldHash } from '../../privacy/withhold-extra.ts';
import { formatEvidence } from '../decide/commission-evidence.ts';
import { type StoredTransaction, summarizeHistory } from '../decide/stored-transaction.ts';
import { sourceColumns } from '../journal/source-columns.ts';
import { type LoadedTransaction, PARTY_FACTS } from './load-stored-transactions.ts';
import { type ChangedFacts, writeFactChanges } from './write-fact-changes.ts';

/** The write of one transaction; `loaded` is undefined for a new one, `sources` gives the source of each new event. */
export type TransactionWrite = {
  loaded: LoadedTransaction | undefined;
  after: StoredTransaction;
  added: StoredEvent[];
  source: Source;
  sources?: Map<StoredEvent, Source>;
  /** Whether known events changed position. */
  isReordered?: boolean;
  /** The keyed hash of the person, where the person was forgotten. */
  forgotten: Buffer | undefined;
};

/** Inserts new transactions, in one statement. @returns the row number of each transaction by its id, also of known ones. */
export async function numberTransactions(
  context: Context,
  trx: Transaction<Database>,
  changes: TransactionWrite[],
  now: Date,
): Promise<Map<string, number>> {
  const seqs = new Map(changes.flatMap(({ loaded, after }) => (loaded ? [[after.id, loaded.seq] as const] : [])));
  const created = changes.filter((change) => change.loaded === undefined);
  if (created.length > 0)
    for (const { id, seq } of await insertTransactions(context, trx, created, now)) seqs.set(id, seq);
  return seqs;
}

/**
 * Writes changed transactions, and the parties and new events of all, each kind in one statement. Sets `seq` of each new
 * event.
 * @param given.seqs the row number of each transaction by its id.
 */
export async function writeTransactions(
  context: Context,
  trx: Transaction<Database>,
  { changes, seqs }: { changes: TransactionWrite[]; seqs: Map<string, number> },
  now: Date,
): Promise<void> {
  const updated = changes.flatMap(({ loaded, after, source, isReordered = false }) => {
    if (!loaded) return [];
    const reordered = isReordered || loaded.row.reordered === 1;
    return [{ seq: loaded.seq, before: loaded.stored, after, source, reordered }];
  });
  await runTogether(trx, [
    (together) => updateTransactions(together, updated, now),
    (together) => writeFactChanges(together, updated, now),
    (together) => writeParties(context, together, changes.filter(isNewParty), seqs, now),
    (together) => insertEvents(context, together, changes, seqs, now),
  ]);
}

/** Rarely true after the first observation. Compared with the row, since `stored` may have been redacted. */
function isNewParty({ loaded, after, forgotten }: TransactionWrite): boolean {
  if (!loaded || forgotten || loaded.forgotten) return true;
  const { reference, extra } = loaded.stored;
  // their words are to be indexed again
  if (reference !== after.reference || extra !== after.extra) return true;
  return PARTY_FACTS.some((name) => loaded.party[name] !== after[name]);
}

type Updated = ChangedFacts & { reordered: boolean };

async function updateTransactions(trx: Transaction<Database>, updated: Updated[], now: Date): Promise<void> {
  if (updated.length === 0) return;
  // keyed by the row number: no other unique key can direct the update to another row
  const rows = updated.map((change) => ({
    ...toRow(change.after, now),
    seq: change.seq,
    reordered: change.reordered ? 1 : 0,
  }));
  await insertRows(trx, 'transactions', rows, MUTABLE);
}

const MUTABLE = [
  // the first ones applied, unless a person accepted others
  'operation',
  'amount_cents',
  'status',
  'status_wall',
  'sequence',
  'event_count',
  'commission_cents',
  'commission_evidence',
  'reference',
  'extra',
  'extra_hash',
  'platform',
  'e2e_id',
  'digest',
  'asked_at',
  'ordered_at',
  'reordered',
] as const;

const PARTY_COLUMNS = [
  'name',
  'email',
  'phone',
  'document',
  'pix_key',
  'description',
  'document_hash',
  'name_folded',
  'created_wall',
  'forgotten_at',
  'index_due',
] as const;

async function insertTransactions(
  context: Context,
  trx: Transaction<Database>,
  created: TransactionWrite[],
  now: Date,
): Promise<{ id: string; seq: number }[]> {
  const rows = created.map((change) => toRow(change.after, now));
  const ids = rows.map(({ id }) => id);
  return await insertReturning(context, trx, { table: 'transactions', rows }, ['seq', 'id'], () =>
    trx.selectFrom('transactions').select(['seq', 'id']).where('id', 'in', ids).execute(),
  );
}

async function writeParties(
  context: Context,
  trx: Transaction<Database>,
  parties: TransactionWrite[],
  seqs: Map<string, number>,
  now: Date,
): Promise<void> {
  if (parties.length === 0) return;
  const rows = parties.map((change) => {
    const seq = requireRowNumber(seqs.get(change.after.id), `transaction ${change.after.id}`);
    return toPartyRow(context.keys, seq, change, now);
  });
  await insertRows(trx, 'parties', rows, PARTY_COLUMNS);
}

async function insertEvents(
  context: Context,
  trx: Transaction<Database>,
  changes: TransactionWrite[],
  seqs: Map<string, number>,
  now: Date,
): Promise<void> {
  const rows = changes.flatMap(({ after, added, source, sources }) =>
    added.map((event) => ({
      transaction_seq: requireRowNumber(seqs.get(after.id), `transaction ${after.id}`),
      status: event.status,
      at_wall: event.atWall,
      occurrence: event.occurrence,
      position: event.position,
      sequence: event.sequence,
      inferred: event.inferred ? 1 : 0,
      number: event.number,
      seen_at: now,
      ...sourceColumns(sources?.get(event) ?? source),
    })),
  );
  if (rows.length === 0) return;
  const columns = ['seq', 'transaction_seq', 'status', 'at_wall', 'occurrence'] as const;
  const written = await insertReturning(context, trx, { table: 'events', rows }, columns, () =>
    trx
      .selectFrom('events')
      .select(columns)
      .where('transaction_seq', 'in', [...new Set(rows.map((row) => row.transaction_seq))])
      .execute(),
  );
  const seqOf = new Map(
    written.map((row) => [`${row.transaction_seq} ${eventKey({ ...row, atWall: row.at_wall })}`, row.seq]),
  );
  for (const { after, added } of changes) {
    for (const event of added) {
      event.seq = requireRowNumber(seqOf.get(`${seqs.get(after.id)} ${eventKey(event)}`), `a new event of ${after.id}`);
    }
  }
}

function toRow(stored: StoredTransaction, now: Date) {
  const state = summarizeHistory(stored);
  if (!state) throw new InvariantError(`transaction ${stored.id} has no event`);
  const withheld = stored.extra === null ? undefined : readWithheldHash(stored.extra);
  return {
    id: stored.id,
    operation: stored.operation,
    ...state,
    amount_cents: stored.amountCents,
    commission_cents: stored.commissionCents,
    commission_evidence: formatEvidence(stored.commissionEvidence),
    reference: stored.reference,
    extra: withheld ? null : stored.extra,
    extra_hash: withheld ?? (stored.extra === null ? null : createHash('sha256').update(stored.extra).digest()),
    platform: stored.platform,
    e2e_id: stored.e2eId,
    created_wall: stored.createdWall,
    digest: stored.digest,
    asked_at: stored.askedAt,
    ordered_at: stored.orderedAt ?? null,
    first_seen_at: now,
  };
}

function toPartyRow(keys: Keys, transactionSeq: number, { after, forgotten }: TransactionWrite, now: Date) {
  return {
    transaction_seq: transactionSeq,
    name: after.name,
    email: after.email,
    phone: after.phone,
    document: after.document,
    pix_key: after.pixKey,
    description: after.description,
    ...(forgotten ? { document_hash: forgotten, name_folded: null } : indexParty(keys, after)),
    created_wall: after.createdWall,
    forgotten_at: forgotten ? now : null,
    index_due: 1,
  };
}
