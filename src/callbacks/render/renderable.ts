import type { Selectable } from 'kysely';
import type { Database } from '../../database/tables.ts';

export const TEST_TYPE = 'confere.test';
export const MANIFEST_TYPE = 'pix.day.manifest';
/** The beginning of the type of an expected payment's change, which ends with the state. */
export const EXPECTED_TYPE = 'pix.expected.';
/** Sent at once to a new address (`deliver/challenge-address.ts`): it is no callback. */
export const CHALLENGE_TYPE = 'confere.challenge';

/** A callback, as far as its body needs it. */
export type Renderable = {
  seq: number;
  /** As `callbacks.transaction_seq`. */
  transactionSeq: number | null;
  /** Null for a correction and an expected payment's change, which are identified by their sequence. */
  eventSeq: number | null;
  sequence: number;
  type: string;
  previousStatus: string | null;
  source: string;
  createdAt: Date;
};

/** The columns of a stored callback that its body needs. */
export type RenderableRow = Pick<
  Selectable<Database['callbacks']>,
  'seq' | 'transaction_seq' | 'event_seq' | 'sequence' | 'type' | 'previous_status' | 'source' | 'created_at'
>;

export function toRenderable(row: RenderableRow): Renderable {
  const { seq, sequence, type, source } = row;
  const [transactionSeq, eventSeq, createdAt] = [row.transaction_seq, row.event_seq, row.created_at];
  return { seq, transactionSeq, eventSeq, sequence, type, previousStatus: row.previous_status, source, createdAt };
}
