import { readHeaders } from '../deliver/attempt-headers.ts';
import { WHEN_IDLE } from '../health/when-idle.ts';
import type { AttemptRow, CallbackRow } from './read-callbacks.ts';
import type { OwnCallbackRow } from './read-own-callbacks.ts';

export type PresentedCallback = ReturnType<typeof presentCallback>;

/** A callback as the API shows it. */
export function presentCallback(row: CallbackRow) {
  return {
    id: `cb_${row.seq}`,
    webhook_id: row.webhook_id,
    merchant_id: row.merchant_id,
    transaction_id: row.transaction_id,
    expected_payment_id: row.expected_payment_id,
    type: row.type,
    sequence: row.transaction_seq === null ? null : row.sequence,
    previous_status: row.previous_status,
    source: row.source,
    state: row.state,
    attempts: row.attempts,
    next_attempt_at: presentDueAt(row),
    waits_for_earlier: Number(row.waits_for_earlier) === 1,
    created_at: row.created_at.toISOString(),
    delivered_at: row.delivered_at?.toISOString() ?? null,
  };
}

export type PresentedOwnCallback = ReturnType<typeof presentOwnCallback>;

/** A callback as its merchant sees it: its id is the webhook-id. */
export function presentOwnCallback(row: OwnCallbackRow) {
  const { id: _, merchant_id: __, webhook_id: id, ...rest } = presentCallback(row);
  return { id, reference: row.reference, number: row.number, platform: row.platform, ...rest };
}

/** Null also while it is sent, and for a callback of a backfill, which is sent when its merchant has no other one. */
function presentDueAt({ state, next_attempt_at: dueAt, lease_holder: holder }: CallbackRow): string | null {
  const isPlanned = state === 'pending' && holder === null && dueAt?.getTime() !== WHEN_IDLE.getTime();
  return isPlanned ? (dueAt?.toISOString() ?? null) : null;
}

/** An attempt as the API shows it. @param options.withBody the merchant's text may name people: only for roles that see them. */
export function presentAttempt(row: AttemptRow, options: { withBody: boolean }) {
  return {
    number: row.number,
    at: row.started_at.toISOString(),
    duration_ms: row.duration_ms,
    request_headers: readHeaders(row),
    response_status: row.response_status,
    response_body: options.withBody ? (row.response_body?.toString('utf8') ?? null) : null,
    error_class: row.error_class,
  };
}
