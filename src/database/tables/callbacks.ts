import type { Generated } from 'kysely';
import type { Optional } from './optional.ts';

/** Merchants, their callbacks, and alerts. */
export type CallbackTables = {
  merchants: {
    seq: Generated<number>;
    id: string;
    name: string;
    /** Null: the merchant fetches its events. */
    url: Optional<string>;
    /** Takes the messages that failed before `url_changed_at`; null: `url` does. */
    old_url: Optional<string>;
    url_changed_at: Optional<Date>;
    /** Takes tests and examples; null: `url` does. */
    test_url: Optional<string>;
    /** 1: nobody confirmed `test_url`, so it gets invented examples alone. */
    test_unconfirmed: Generated<number>;
    /** How often its secret was rotated, the last time at `test_rotated_at`. */
    test_rotations: Generated<number>;
    test_rotated_at: Optional<Date>;
    format: Generated<string>;
    email: Optional<string>;
    state: Generated<string>;
    disabled_reason: Optional<string>;
    filter: string;
    /** The merchant's own choice within `filter`; null: it accepts all. */
    own_filter: Optional<string>;
    paused_by: Optional<string>;
    /** 1: its daily manifests are sent to it as callbacks. */
    manifests: Generated<number>;
    rate: Optional<number>;
    rate_next_at: Optional<Date>;
    events_since: Date;
    failures: Generated<number>;
    failing_since: Optional<Date>;
    breaker_opened_at: Optional<Date>;
    probe_at: Optional<Date>;
    /** The row number of the callback whose attempt failed last; tests do not count. */
    last_failed_callback: Optional<number>;
    warned_at: Optional<Date>;
    recovered_at: Optional<Date>;
    last_position: Generated<number>;
    pull_token_hash: Optional<Buffer>;
    pull_token_expires_at: Optional<Date>;
    pulled_position: Generated<number>;
    pulled_at: Optional<Date>;
    callbacks_dropped_to: Optional<Date>;
    created_at: Date;
    deleted_at: Optional<Date>;
  };
  merchant_address_changes: {
    seq: Generated<number>;
    id: string;
    merchant_seq: number;
    kind: string;
    /** Null: no test address any more. Of a notice (note-own-changes.ts): what was done. */
    value: Optional<string>;
    old_value: Optional<string>;
    asked_at: Date;
    asked_by: string;
    proven_at: Optional<Date>;
    agreed_at: Optional<Date>;
    applied_at: Optional<Date>;
    ended_at: Optional<Date>;
    mail: Optional<string>;
    next_attempt_at: Optional<Date>;
  };
  backfills: {
    merchant_seq: number;
    state: string;
    events_since: Date;
    cursor_wall: string;
    cursor_seq: number;
    /** Expected payments up to this row number are done. */
    expected_seq: Generated<number>;
    transactions: Generated<number>;
    enqueued: Generated<number>;
    started_at: Date;
    updated_at: Date;
    finished_at: Optional<Date>;
  };
  merchant_mails: {
    merchant_seq: number;
    day: string;
    cause: string;
    callback_seq: number;
    created_at: Date;
    next_attempt_at: Optional<Date>;
  };
  merchant_secrets: {
    seq: Generated<number>;
    merchant_seq: number;
    /** The name of the header whose value it is; null: it signs. */
    header: Optional<string>;
    ciphertext: Buffer;
    key_id: Optional<string>;
    created_at: Date;
    expires_at: Optional<Date>;
  };
  callbacks: {
    seq: Generated<number>;
    webhook_id: string;
    merchant_seq: number;
    /** Negative: minus the row number of an expected payment. Null: it waits for no other callback. */
    transaction_seq: Optional<number>;
    /** The row number of the callback that an example repeats. */
    event_seq: Optional<number>;
    sequence: Generated<number>;
    type: string;
    previous_status: Optional<string>;
    source: string;
    state: string;
    attempts: Generated<number>;
    step: Generated<number>;
    first_failed_at: Optional<Date>;
    next_attempt_at: Optional<Date>;
    lease_holder: Optional<string>;
    lease_until: Optional<Date>;
    position: Optional<number>;
    created_at: Date;
    delivered_at: Optional<Date>;
    traceparent: Optional<string>;
  };
  callback_attempts: {
    seq: Generated<number>;
    callback_seq: number;
    number: number;
    started_at: Date;
    duration_ms: number;
    response_status: Optional<number>;
    error_class: Optional<string>;
    response_body: Optional<Buffer>;
    /** JSON: see attempt-headers.ts. */
    request_headers: string;
  };
  alerts: {
    seq: Generated<number>;
    id: string;
    name: string;
    severity: string;
    scope: string;
    firing_scope: Optional<string>;
    summary: string;
    facts: Optional<string>;
    mismatch_id: Optional<string>;
    transaction_id: Optional<string>;
    raised_at: Date;
    ended_at: Optional<Date>;
    spread_at: Optional<Date>;
  };
  alert_sends: {
    alert_seq: number;
    channel: string;
    attempts: Generated<number>;
    next_attempt_at: Optional<Date>;
    sent_at: Optional<Date>;
    end_sent_at: Optional<Date>;
    error: Optional<string>;
    lease_until: Optional<Date>;
  };
};
