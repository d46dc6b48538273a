import type { Reader } from '../../database/reader.ts';
import { inForce } from '../../database/shared/in-force.ts';
import { selectTransactions, toLedgerTransaction } from '../../database/shared/read-transactions.ts';
import type { Calendar } from '../../domain/calendar.ts';
import { webhookIdOf } from '../../domain/ids.ts';
import { formatAmount } from '../../domain/money.ts';
import { maskAccount } from '../../domain/person/mask-person.ts';
import type { LedgerTransaction } from '../../domain/present-transaction.ts';
import { sortHistory } from '../../domain/sort-history.ts';
import { readEventPositions } from '../apply/read-event-positions.ts';
import { readPostings } from './read-postings.ts';

export type PresentedSource = {
  kind: string;
  webhook_id?: string | undefined;
  run_id?: string | undefined;
  page?: number | undefined;
  /** The opening, for an entry that a person caused. */
  opening_id?: string | undefined;
};

/** A transaction with its events and entries, each with its time, its source and when it was recorded. */
export type TransactionTimeline = NonNullable<Awaited<ReturnType<typeof describeTransaction>>>;

export async function describeTransaction(db: Reader, calendar: Calendar, id: string) {
  const row = await selectTransactions(db).where('transactions.id', '=', id).executeTakeFirst();
  if (!row) return undefined;
  const events = await readEvents(db, row.seq);
  const entries = await readEntries(db, row.seq);
  const sequences = new Map(events.map((event) => [event.seq, event.sequence]));
  return {
    seq: row.seq,
    transaction: toLedgerTransaction(row),
    // newest first
    events: events.filter(isOfHistory).map((event) => ({
      status: event.status,
      at: calendar.toIso(event.atWall),
      seen_at: event.seen_at.toISOString(),
      sequence: event.sequence,
      // false once a person accepted that the provider no longer shows it
      in_force: Number(event.in_force) === 1,
      source: presentSource(event),
    })),
    entries: entries.map(({ postings, ...entry }) => ({
      id: `en_${entry.seq}`,
      kind: entry.kind,
      at: calendar.toIso(entry.at_wall),
      recorded_at: entry.recorded_at.toISOString(),
      sequence: entry.event_seq === null ? null : (sequences.get(entry.event_seq) ?? null),
      reverses: entry.reverses_seq === null ? null : `en_${entry.reverses_seq}`,
      postings: postings.map(({ account, cents }) => ({ account, amount: formatAmount(cents) })),
      source: presentSource(entry),
    })),
  };
}

/**
 * Masks entries for users without access to personal data: a platform, and so an account's name, may contain a
 * document.
 */
export function maskEntries(
  entries: TransactionTimeline['entries'],
  of: LedgerTransaction,
): TransactionTimeline['entries'] {
  const party = { ...of, pix_key: of.pixKey };
  return entries.map((entry) => ({
    ...entry,
    postings: entry.postings.map((one) => ({ ...one, account: maskAccount(one.account, party) })),
  }));
}

function isOfHistory(event: { in_force: number; inferred: boolean }): boolean {
  return Number(event.in_force) === 1 || !event.inferred;
}

/** Returns, for entries that a person caused, the newest opening of their platform when they were recorded. */
async function findOpenings(
  db: Reader,
  rows: { seq: number; source_kind: string; platform: string; recorded_at: Date }[],
) {
  const caused = rows.filter((row) => row.source_kind === 'person');
  if (caused.length === 0) return new Map<number, string>();
  const openings = await db
    .selectFrom('openings')
    .select(['id', 'platform', 'created_at'])
    .where('platform', 'in', [...new Set(caused.map((row) => row.platform))])
    .orderBy('seq')
    .execute();
  return new Map(
    caused.flatMap(({ seq, platform, recorded_at: at }) => {
      const opening = openings.findLast((one) => one.platform === platform && one.created_at <= at);
      return opening ? [[seq, opening.id]] : [];
    }),
  );
}

/** Reads events, newest first. A replaced inferred event appears only in the entries: it is no part of the history. */
async function readEvents(db: Reader, transactionSeq: number) {
  const rows = await db
    .selectFrom('events')
    .leftJoin('webhooks', 'webhooks.seq', 'events.source_webhook_seq')
    .leftJoin('runs', 'runs.seq', 'events.source_run_seq')
    .select(['events.seq', 'status', 'at_wall as atWall', 'sequence', 'seen_at', 'source_kind', 'source_page'])
    .select(['webhooks.hash as webhook_hash', 'runs.id as run_id', inForce('events').as('in_force')])
    .select(['events.position', 'events.inferred'])
    .where('transaction_seq', '=', transactionSeq)
    .execute();
  const positions = await readEventPositions(db, [transactionSeq]);
  const positioned = rows.map((row) => ({
    ...row,
    position: positions.get(row.seq) ?? row.position,
    inferred: row.inferred === 1 && !positions.has(row.seq),
  }));
  return sortHistory(positioned).toReversed();
}

async function readEntries(db: Reader, transactionSeq: number) {
  const rows = await db
    .selectFrom('entries')
    .leftJoin('webhooks', 'webhooks.seq', 'entries.source_webhook_seq')
    .leftJoin('runs', 'runs.seq', 'entries.source_run_seq')
    .select([
      'entries.seq',
      'kind',
      'event_seq',
      'reverses_seq',
      'at_wall',
      'recorded_at',
      'source_kind',
      'source_page',
      'entries.platform',
    ])
    .select(['webhooks.hash as webhook_hash', 'runs.id as run_id'])
    .where('transaction_seq', '=', transactionSeq)
    .orderBy('entries.seq')
    .execute();
  const postings = await readPostings(
    db,
    rows.map((row) => row.seq),
  );
  const openings = await findOpenings(db, rows);
  return rows.map((row) => ({ ...row, postings: postings.get(row.seq) ?? [], opening_id: openings.get(row.seq) }));
}

function presentSource(row: {
  source_kind: string;
  webhook_hash: Buffer | null;
  run_id: string | null;
  source_page: number | null;
  opening_id?: string | undefined;
}): PresentedSource {
  return {
    kind: row.source_kind,
    ...(row.webhook_hash ? { webhook_id: webhookIdOf(row.webhook_hash) } : {}),
    ...(row.run_id ? { run_id: row.run_id } : {}),
    ...(row.source_page === null ? {} : { page: row.source_page }),
    ...(row.opening_id === undefined ? {} : { opening_id: row.opening_id }),
  };
}
