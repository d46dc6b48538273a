import type { Transaction } from 'kysely';
import type { Database } from '../../database/tables.ts';
import { type Renderable, toRenderable } from '../render/renderable.ts';

/** A callback that this process has leased, or leases in the current transaction. */
export type ClaimedCallback = Renderable & {
  webhookId: string;
  merchantSeq: number;
  attempts: number;
  step: number;
  firstFailedAt: Date | null;
  isProbe: boolean;
  /** The trace context of its cause. */
  traceparent: string | null;
  /** Newer callbacks of its transaction, leased with it. Each is sent as soon as the one before it is delivered. */
  successors: ClaimedCallback[];
};

/** The columns of a claimed callback. */
export const CLAIMABLE_COLUMNS = [
  ...(['seq', 'webhook_id', 'merchant_seq', 'transaction_seq', 'event_seq', 'sequence', 'type'] as const),
  ...(['previous_status', 'source', 'attempts', 'step', 'first_failed_at', 'created_at', 'traceparent'] as const),
] as const;

export function selectClaimable(trx: Transaction<Database>) {
  return trx.selectFrom('callbacks').select(CLAIMABLE_COLUMNS);
}

type ClaimableRow = Awaited<ReturnType<ReturnType<typeof selectClaimable>['execute']>>[number];

export function toClaimed(row: ClaimableRow): ClaimedCallback {
  return {
    ...toRenderable(row),
    webhookId: row.webhook_id,
    merchantSeq: row.merchant_seq,
    attempts: row.attempts,
    step: row.step,
    firstFailedAt: row.first_failed_at,
    isProbe: false,
    traceparent: row.traceparent,
    successors: [],
  };
}
