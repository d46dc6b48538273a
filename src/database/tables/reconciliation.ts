import type { ColumnType, Generated } from 'kysely';
import type { Optional } from './optional.ts';

/** Runs over the provider's list. */
export type ReconciliationTables = {
  runs: {
    seq: Generated<number>;
    id: string;
    trigger: string;
    state: string;
    from_day: string;
    to_day: string;
    platform: Optional<string>;
    pages: Generated<number>;
    passes: Generated<number>;
    total: Optional<number>;
    seen: Generated<number>;
    applied: Generated<number>;
    created_at: Date;
    created_by: string;
    started_at: Optional<Date>;
    finished_at: Optional<Date>;
    error: Optional<string>;
    /** The messages of `error` as JSON; see `storeError`. */
    error_says: Optional<string>;
    lease_holder: Optional<string>;
    lease_until: Optional<Date>;
    how: Generated<string>;
    requests: Generated<number>;
    days_counted: Generated<number>;
    days_recent: Generated<number>;
    not_before: Optional<Date>;
    traceparent: Optional<string>;
  };
  run_windows: {
    seq: Generated<number>;
    run_seq: number;
    from_day: string;
    to_day: string;
    platform: Optional<string>;
    state: string;
    pages: Generated<number>;
    passes: Generated<number>;
    total: Optional<number>;
    seen: Generated<number>;
    applied: Generated<number>;
    asked_at: Optional<Date>;
    error: Optional<string>;
    error_says: Optional<string>;
    surplus: Generated<number>;
    pages_digest: Optional<Buffer>;
    folded_at: Optional<Date>;
  };
  accepted_surpluses: {
    seq: Generated<number>;
    day: string;
    platform: string | null;
    surplus: number;
    mismatch_seq: number;
    actor: string;
    created_at: Date;
  };
  run_pages: {
    seq: Generated<number>;
    run_seq: number;
    window_seq: number;
    pass: number;
    page: number;
    total: number;
    row_count: number;
    body_hash: Buffer;
    ids_digest: Buffer;
    asked_at: Date;
    status: Optional<string>;
  };
  run_page_rows: {
    window_seq: number;
    pass: number;
    page: number;
    place: number;
    query: string;
    total: number;
    last_page: number;
    asked_at: Date;
    page_rows: ColumnType<Buffer, string, string>;
  };
  list_heads: {
    day: string;
    whole_at: Date;
    total: number;
    head_rows: ColumnType<Buffer, string, string>;
  };
  run_days: {
    day: string;
    run_seq: number;
    holder: string;
  };
  webhook_days: {
    day: string;
    announced: number;
    lost: number;
    waiting: number;
    late_p50_s: number | null;
    late_p95_s: number | null;
    late_max_s: number | null;
    counted_at: Date;
  };
  provider_budget: {
    name: string;
    tokens: number;
    filled_at: Date;
  };
};
