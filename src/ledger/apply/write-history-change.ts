/**
 * Corrections of a known history that an observation makes without a person: a real event replaces the inferred one of
 * its status, or the provider's order differs from ours. Nothing is deleted: entries are reversed and posted by the
 * journal's rules, an event out of force and a new position are rows in tables of their own, and each merchant that was
 * notified of the old state is notified of the correction.
 */
import type { Transaction } from 'kysely';
import { SYSTEM_ACTOR } from '../../access/audit.ts';
import { enqueueCorrection } from '../../callbacks/queue/enqueue-callbacks.ts';
import type { Context } from '../../context.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import type { Database } from '../../database/tables.ts';
import { NO_MISMATCH } from '../../domain/mismatch.ts';
import type { StoredEvent } from '../../domain/sort-history.ts';
import { countUsedSequences, type StoredTransaction } from '../decide/stored-transaction.ts';
import { sourceColumns } from '../journal/source-columns.ts';
import type { EntrySource } from '../journal/write-entries.ts';
import type { LoadedTransaction } from './load-stored-transactions.ts';
import { writeCorrection } from './write-correction.ts';

/** The actor of a correction that no person made. */

type Corrected = {
  loaded: LoadedTransaction | undefined;
  after: StoredTransaction;
  source: EntrySource;
  history: HistoryChange;
};

export type HistoryChange = {
  /** Events that went out of force, or back in force. */
  inForceChanged: StoredEvent[];
  /** Events that have another position now, or that are no longer inferred. */
  repositioned: StoredEvent[];
  /** Whether merchants are notified: an event went out of force, or another known event is now the newest. */
  isCorrection: boolean;
};

const UNCHANGED: HistoryChange = { inForceChanged: [], repositioned: [], isCorrection: false };

/** Compares the events that were known before with the history now. Pure. */
export function compareHistories(loaded: LoadedTransaction | undefined, after: StoredTransaction): HistoryChange {
  if (!loaded) return UNCHANGED;
  const before = loaded.stored;
  const known = new Map([...before.events, ...before.outOfForce].map((event) => [event.seq, event]));
  const wasOutOfForce = new Set(before.outOfForce.map((event) => event.seq));
  const isKnown = ({ seq }: StoredEvent): boolean => seq !== undefined && known.has(seq);
  const inForceChanged = [
    ...after.events.filter((event) => isKnown(event) && wasOutOfForce.has(event.seq)),
    ...after.outOfForce.filter((event) => isKnown(event) && !wasOutOfForce.has(event.seq)),
  ];
  const repositioned = [...after.events, ...after.outOfForce].filter((event) => {
    const old = known.get(event.seq);
    return isKnown(event) && (old?.position !== event.position || old.inferred !== event.inferred);
  });
  const isCorrection = inForceChanged.length > 0 || after.events.findLast(isKnown)?.seq !== before.events.at(-1)?.seq;
  return { inForceChanged, repositioned, isCorrection };
}

/**
 * Adds the correction to a transaction before its row is written, since the row holds the newest sequence
 * number. Pure.
 */
export function countCorrection(after: StoredTransaction, { isCorrection }: HistoryChange): StoredTransaction {
  if (!isCorrection) return after;
  const { count: times = 0, acceptedAt: at } = after.corrections ?? {};
  return { ...after, corrections: { count: times + 1, sequence: countUsedSequences(after) + 1, acceptedAt: at } };
}

/** Writes the changes of known events, beside the transaction's row. */
export async function writeHistoryChange(
  context: Context,
  trx: Transaction<Database>,
  { loaded, after, source, history: { inForceChanged, repositioned, isCorrection } }: Corrected,
  now: Date,
): Promise<void> {
  if (!loaded) return;
  if (repositioned.length > 0) await writePositions(trx, loaded.seq, repositioned, source, now);
  if (!isCorrection) return;
  const correction = { loaded, after, inForceChanged, mismatchSeq: NO_MISMATCH, actor: SYSTEM_ACTOR };
  const content = await writeCorrection(context, trx, correction, now);
  // its time was inferred: the real event expects the webhook
  const seqs = inForceChanged.filter((event) => after.outOfForce.includes(event)).flatMap(({ seq }) => seq ?? []);
  if (seqs.length > 0) {
    await trx.deleteFrom('owed_webhooks').where('event_seq', 'in', seqs).where('settled_at', 'is', null).execute();
  }
  await enqueueCorrection(context, trx, {
    seq: loaded.seq,
    sequence: requireRowNumber(after.corrections?.sequence, `the correction of ${after.id}`),
    content,
    before: loaded.stored,
    after,
    concerns: 'before',
  });
}

/** Writes new positions with a fact change, so that a report of an earlier cut shows the earlier order. */
async function writePositions(
  trx: Transaction<Database>,
  transactionSeq: number,
  repositioned: StoredEvent[],
  source: EntrySource,
  now: Date,
): Promise<void> {
  const { insertId } = await trx
    .insertInto('fact_changes')
    .values({
      transaction_seq: transactionSeq,
      name: 'order',
      before_value: null,
      at: now,
      ...sourceColumns(source),
    })
    .executeTakeFirstOrThrow();
  await trx
    .insertInto('event_places')
    .values(
      repositioned.map((event) => ({
        transaction_seq: transactionSeq,
        event_seq: requireRowNumber(event.seq, 'a known event'),
        position: event.position,
        fact_change_seq: requireRowNumber(insertId, 'a change of facts'),
      })),
    )
    .execute();
}
