import type { Generated } from 'kysely';
import type { Optional } from './optional.ts';

/** Expected payments, and which transactions they are. */
export type ExpectedTables = {
  expected_payments: {
    seq: Generated<number>;
    id: string;
    source: string;
    number: string;
    operation: string;
    created_at: Date;
    created_day: string;
    version: number;
    version_seq: number;
    is_cancelled: Generated<number>;
    revised_at: Optional<Date>;
    amount_cents: bigint;
    platform: Optional<string>;
    issued_day: string;
    due_day: string;
    end_day: string;
    extra_hash: Optional<Buffer>;
    document_hash: Optional<Buffer>;
    state: string;
    reason_code: Optional<string>;
    state_at: Date;
    sequence: Generated<number>;
    settled_cents: Generated<bigint>;
    returned_cents: Generated<bigint>;
    parts_settled: Generated<number>;
    paid_day: Optional<string>;
    first_lack: Optional<string>;
    last_lack: Optional<string>;
    lacks: Generated<number>;
    look_at: Optional<Date>;
    merchant_seq: Optional<number>;
  };
  expected_versions: {
    seq: Generated<number>;
    expected_id: string;
    version: number;
    facts_hash: Buffer;
    amount_cents: bigint;
    platform: Optional<string>;
    issued_day: Optional<string>;
    due_day: string;
    valid_until: Optional<string>;
    invoice_key: Optional<string>;
    extra_hash: Optional<Buffer>;
    document_hash: Optional<Buffer>;
    revised_at: Optional<Date>;
    created_at: Date;
    actor: string;
  };
  expected_texts: {
    version_seq: number;
    document: Optional<string>;
    name: Optional<string>;
    description: Optional<string>;
    extra: Optional<string>;
    name_folded: Optional<Buffer>;
  };
  expected_keys: {
    seq: Generated<number>;
    version_seq: number;
    kind: string;
    value: string;
  };
  expected_cancellations: {
    seq: Generated<number>;
    expected_seq: number;
    is_cancelled: number;
    created_at: Date;
    actor: string;
  };
  expected_matches: {
    seq: Generated<number>;
    expected_seq: number;
    transaction_seq: number;
    part: Optional<number>;
    amount_cents: bigint;
    rule: string;
    undoes_seq: Optional<number>;
    reason: Optional<string>;
    created_at: Date;
    actor: string;
  };
  expected_notes: {
    seq: Generated<number>;
    match_seq: Optional<number>;
    cancellation_seq: Optional<number>;
    note: string;
  };
  expected_changes: {
    seq: Generated<number>;
    expected_seq: number;
    sequence: number;
    version: number;
    state: string;
    reason_code: Optional<string>;
    settled_cents: bigint;
    returned_cents: bigint;
    parts_settled: number;
    at: Date;
    /** Null: it has no callbacks. */
    content_hash: Optional<Buffer>;
    last_match_seq: Optional<number>;
  };
  expected_candidates: {
    expected_seq: number;
    transaction_seq: number;
    rule: string;
    reason: string;
  };
  expected_work: {
    seq: Generated<number>;
    transaction_seq: Optional<number>;
    expected_seq: Optional<number>;
    from_day: Optional<string>;
    to_day: Optional<string>;
    created_at: Date;
    due_at: Date;
  };
  expected_following: {
    id: number;
    holder: Optional<string>;
    lease_until: Optional<Date>;
    receipts_wall: Optional<string>;
    receipts_seq: Generated<number>;
  };
  expected_starts: {
    platform: string;
    since_day: string;
    arrived_at: Date;
  };
};
