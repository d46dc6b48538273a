import type { Reader } from '../../../database/reader.ts';
import { groupValues } from '../../../domain/lists.ts';
import { NO_MISMATCH } from '../../../domain/mismatch.ts';
import type { Operation } from '../../../domain/statuses.ts';
import type { LearntCorrection, LearntEvent, LearntHistory } from './replay-history.ts';

/** `corrections.mismatch_seq` of a correction that no person made. */
const FILTERED_FACTS = ['operation', 'reference', 'extra', 'platform'];

/**
 * Reads how the ledger learnt these transactions. The events are read first: the changes that came with an event were
 * committed with it, so the later statements see them.
 */
export async function readHistories(db: Reader, transactionSeqs: number[]): Promise<LearntHistory[]> {
  if (transactionSeqs.length === 0) return [];
  const events = await readEvents(db, transactionSeqs);
  const transactions = await db
    .selectFrom('transactions')
    .select(['seq', 'id', 'operation', 'reference', 'extra', 'platform'])
    .where('seq', 'in', transactionSeqs)
    .execute();
  const corrections = await readCorrections(db, transactionSeqs);
  const changes = await db
    .selectFrom('fact_changes')
    .select(['transaction_seq', 'name', 'before_value', 'at'])
    .where('transaction_seq', 'in', transactionSeqs)
    .where('name', 'in', FILTERED_FACTS)
    .orderBy('seq')
    .execute();
  const factChanges = groupValues(
    changes,
    (row) => row.transaction_seq,
    (row) => ({ name: row.name, before: row.before_value, at: row.at }),
  );
  const positions = await readPositions(db, transactionSeqs);
  return transactions.map((row) => ({
    transaction: { ...row, operation: row.operation as Operation },
    events: events.get(row.seq) ?? [],
    corrections: corrections.get(row.seq) ?? [],
    factChanges: factChanges.get(row.seq) ?? [],
    positions: positions.get(row.seq) ?? [],
  }));
}

async function readEvents(db: Reader, transactionSeqs: number[]): Promise<Map<number, LearntEvent[]>> {
  const rows = await db
    .selectFrom('events')
    .select(['seq', 'transaction_seq', 'status', 'at_wall', 'occurrence', 'position', 'sequence', 'inferred'])
    .select(['number', 'seen_at', 'source_kind'])
    .where('transaction_seq', 'in', transactionSeqs)
    .orderBy('transaction_seq')
    .orderBy('sequence')
    .execute();
  return groupValues(
    rows,
    (row) => row.transaction_seq,
    (row) => ({
      ...{ seq: row.seq, status: row.status, atWall: row.at_wall, occurrence: row.occurrence },
      ...{ position: row.position, sequence: row.sequence, inferred: row.inferred === 1, seenAt: row.seen_at },
      number: row.number,
      source: row.source_kind === 'webhook' ? ('webhook' as const) : ('reconciliation' as const),
    }),
  );
}

async function readCorrections(db: Reader, transactionSeqs: number[]): Promise<Map<number, LearntCorrection[]>> {
  const rows = await db
    .selectFrom('corrections')
    .select(['seq', 'transaction_seq', 'sequence', 'created_at', 'mismatch_seq', 'content_hash'])
    .where('transaction_seq', 'in', transactionSeqs)
    .orderBy('sequence')
    .execute();
  if (rows.length === 0) return new Map();
  const standings = await db
    .selectFrom('event_standings')
    .select(['event_seq', 'in_force', 'correction_seq'])
    .where('transaction_seq', 'in', [...new Set(rows.map((row) => row.transaction_seq))])
    .orderBy('seq')
    .execute();
  const changes = groupValues(
    standings,
    (row) => row.correction_seq,
    (row) => ({ eventSeq: row.event_seq, inForce: row.in_force === 1 }),
  );
  return groupValues(
    rows,
    (row) => row.transaction_seq,
    (row) => ({
      ...{ sequence: row.sequence, at: row.created_at, byPerson: row.mismatch_seq !== NO_MISMATCH },
      contentHash: row.content_hash,
      changes: changes.get(row.seq) ?? [],
    }),
  );
}

async function readPositions(db: Reader, transactionSeqs: number[]): Promise<Map<number, LearntHistory['positions']>> {
  const rows = await db
    .selectFrom('event_places')
    .innerJoin('fact_changes', 'fact_changes.seq', 'event_places.fact_change_seq')
    .select(['event_places.transaction_seq', 'event_seq', 'position', 'at'])
    .where('event_places.transaction_seq', 'in', transactionSeqs)
    .orderBy('event_places.seq')
    .execute();
  return groupValues(
    rows,
    (row) => row.transaction_seq,
    (row) => ({ eventSeq: row.event_seq, position: row.position, at: row.at }),
  );
}
