import type { Generated } from 'kysely';
import type { Optional } from './optional.ts';

/** Reports and their mails, and the months that people closed. */
export type ReportTables = {
  reports: {
    seq: Generated<number>;
    day: string;
    revision: number;
    state: string;
    made_at: Date;
    proven: number;
    proven_run_seq: Optional<number>;
    proven_asked_at: Optional<Date>;
    digest: Buffer;
    sha256: Buffer;
    files: string;
    cut_entry_seq: number;
    cut_event_seq: number;
    cut_mismatch_change_seq: number;
    cut_seal_position: Optional<number>;
    cut_seal_hash: Optional<Buffer>;
    cut_fact_change_seq: Generated<number>;
    checked_entry_seq: number;
    checked_event_seq: number;
    checked_fact_change_seq: Generated<number>;
    cut_event_window: Optional<Buffer>;
    checked_event_count: Optional<number>;
    locale: string;
    full_documents: number;
    version: string;
    redacted_at: Optional<Date>;
    figures: Optional<string>;
    cut_orders: Optional<string>;
    orders_digest: Optional<Buffer>;
    checked_match_seq: Optional<number>;
  };
  month_closes: {
    seq: number;
    month: string;
    action: string;
    at: Date;
    actor: string;
    note: Optional<string>;
    base_seq: Optional<number>;
    cut_seal_position: Optional<number>;
    cut_seal_hash: Optional<Buffer>;
    cut_entry_seq: Optional<number>;
    cut_event_seq: Optional<number>;
    cut_mismatch_change_seq: Optional<number>;
    cut_fact_change_seq: Optional<number>;
    cut_event_window: Optional<Buffer>;
    days: Optional<string>;
    balances: Optional<string>;
    digest: Optional<Buffer>;
    full_documents: Optional<number>;
    version: Optional<string>;
    cut_orders: Optional<string>;
  };
  report_mails: {
    report_seq: number;
    created_at: Date;
    attempts: Generated<number>;
    next_attempt_at: Optional<Date>;
    sent_at: Optional<Date>;
    error: Optional<string>;
  };
};
