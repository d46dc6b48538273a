import type { ObservedTransaction } from '../../domain/observation.ts';
import type { History } from '../../domain/sort-history.ts';
import type { CommissionEvidence } from './commission-evidence.ts';

export type StoredTransaction = Omit<ObservedTransaction, 'events' | 'eventsInferred' | 'status'> &
  History & {
    /** Corrections of the known history: how many, and when a person last made one. */
    corrections: CorrectionSummary | undefined;
    /** Which observations decided the commission; undefined where none is known. */
    commissionEvidence?: CommissionEvidence | undefined;
    digest: Buffer;
    askedAt: Date;
  };

/**
 * `sequence`: of the newest correction, which is numbered among the events. `acceptedAt`: of the newest one that a
 * person accepted; undefined where real events replaced inferred ones only.
 */
export type CorrectionSummary = { count: number; sequence: number; acceptedAt: Date | undefined };

/** Returns the columns of the transaction's row that summarize its history; undefined without an event. */
export function summarizeHistory(stored: StoredTransaction) {
  const last = stored.events.at(-1);
  if (!last) return undefined;
  return {
    status: last.status,
    status_wall: last.atWall,
    // of the event that gives the status, or of the newest correction
    sequence: Math.max(last.sequence, stored.corrections?.sequence ?? 0),
    event_count: stored.events.length + stored.outOfForce.length,
  };
}

/** Returns how many sequence numbers a transaction has used, for events and corrections. */
export function countUsedSequences(stored: StoredTransaction | undefined): number {
  return stored ? stored.events.length + stored.outOfForce.length + (stored.corrections?.count ?? 0) : 0;
}
