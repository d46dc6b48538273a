import type { Generated } from 'kysely';
import type { Optional } from './optional.ts';

/** Mismatches, and facts that are under doubt. */
export type MismatchTables = {
  refused_rows: {
    seq: Generated<number>;
    transaction_id: Optional<string>;
    raw: Buffer;
    hash: Buffer;
    reason: string;
    run_seq: Optional<number>;
    page: Optional<number>;
    seen_at: Date;
  };
  mismatches: {
    seq: Generated<number>;
    id: string;
    kind: string;
    severity: string;
    state: string;
    scope: string;
    open_scope: Optional<string>;
    kept_scope: Optional<string>;
    transaction_seq: Optional<number>;
    transaction_id: Optional<string>;
    reference: Optional<string>;
    amount_cents: Optional<bigint>;
    expected: Optional<string>;
    actual: Optional<string>;
    run_seq: Optional<number>;
    webhook_seq: Optional<number>;
    opened_at: Date;
    acknowledged_at: Optional<Date>;
    resolved_at: Optional<Date>;
    resolution: Optional<string>;
    note: Optional<string>;
    reopened: Generated<number>;
    baseline: Generated<number>;
    /** The id of a user or a token. */
    owner: Optional<string>;
  };
  mismatch_changes: {
    seq: Generated<number>;
    mismatch_seq: number;
    at: Date;
    state: string;
    resolution: Optional<string>;
    note: Optional<string>;
    actor: string;
    opened_at: Optional<Date>;
    expected: Optional<string>;
    actual: Optional<string>;
    amount_cents: Optional<bigint>;
    run_seq: Optional<number>;
  };
  mismatch_causes: {
    mismatch_seq: number;
    alert_name: string;
    alert_scope: string;
  };
  doubted_events: {
    event_seq: number;
    transaction_seq: number;
    transaction_id: string;
    noticed_at: Date;
    shown_without_at: Optional<Date>;
    told: Generated<number>;
    due_at: Optional<Date>;
  };
  doubted_statuses: {
    transaction_seq: number;
    transaction_id: string;
    noticed_at: Date;
    shown_without_at: Optional<Date>;
    told: Generated<number>;
    due_at: Optional<Date>;
  };
  open_looks: {
    transaction_seq: number;
    next_look_at: Date;
  };
};
