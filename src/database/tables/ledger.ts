import type { Generated } from 'kysely';
import type { Optional } from './optional.ts';

/** Transactions, their events, and the journal. */
export type LedgerTables = {
  transactions: {
    seq: Generated<number>;
    id: string;
    operation: string;
    status: string;
    status_wall: string;
    sequence: number;
    event_count: number;
    amount_cents: bigint;
    commission_cents: Optional<bigint>;
    commission_evidence: Optional<string>;
    reference: Optional<string>;
    extra: Optional<string>;
    extra_hash: Optional<Buffer>;
    platform: Optional<string>;
    e2e_id: Optional<string>;
    created_wall: string;
    digest: Buffer;
    asked_at: Date;
    ordered_at: Optional<Date>;
    reordered: Generated<number>;
    first_seen_at: Date;
  };
  parties: {
    transaction_seq: number;
    name: Optional<string>;
    email: Optional<string>;
    phone: Optional<string>;
    document: Optional<string>;
    pix_key: Optional<string>;
    description: Optional<string>;
    document_hash: Optional<Buffer>;
    /** Read only through its index. It may be cut inside a character, so it is bytes and not text. */
    name_folded: Optional<Buffer>;
    created_wall: Optional<string>;
    forgotten_at: Optional<Date>;
    /** 1: its search columns and words are to be filled. */
    index_due: Optional<number>;
  };
  search_words: { transaction_seq: number; word: Buffer; created_wall: string };
  forgotten_people: {
    document_hash: Buffer;
    forgotten_at: Date;
    finished_at: Optional<Date>;
    sealed_values: Optional<Buffer>;
  };
  events: {
    seq: Generated<number>;
    transaction_seq: number;
    status: string;
    at_wall: string;
    occurrence: number;
    position: number;
    sequence: number;
    inferred: number;
    number: Optional<number>;
    seen_at: Date;
    source_kind: string;
    source_webhook_seq: Optional<number>;
    source_run_seq: Optional<number>;
    source_page: Optional<number>;
  };
  event_places: {
    seq: Generated<number>;
    transaction_seq: number;
    event_seq: number;
    position: number;
    fact_change_seq: number;
  };
  event_standings: {
    seq: Generated<number>;
    transaction_seq: number;
    event_seq: number;
    in_force: number;
    correction_seq: number;
  };
  corrections: {
    seq: Generated<number>;
    transaction_seq: number;
    mismatch_seq: number;
    sequence: number;
    before_facts: string;
    after_facts: string;
    content_hash: Optional<Buffer>;
    created_at: Date;
    actor: string;
  };
  fact_changes: {
    seq: Generated<number>;
    transaction_seq: number;
    name: string;
    before_value: Optional<string>;
    at: Date;
    source_kind: Optional<string>;
    source_webhook_seq: Optional<number>;
    source_run_seq: Optional<number>;
    source_page: Optional<number>;
  };
  accounts: {
    seq: Generated<number>;
    name: string;
  };
  entries: {
    seq: Generated<number>;
    kind: string;
    transaction_seq: Optional<number>;
    event_seq: Optional<number>;
    reverses_seq: Optional<number>;
    platform: string;
    at_wall: string;
    recorded_at: Date;
    source_kind: string;
    source_webhook_seq: Optional<number>;
    source_run_seq: Optional<number>;
    source_page: Optional<number>;
  };
  postings: {
    entry_seq: number;
    position: number;
    account_seq: number;
    at_wall: string;
    amount_cents: bigint;
  };
  openings: {
    seq: Generated<number>;
    id: string;
    platform: string;
    day: string;
    balance_cents: bigint;
    entry_seq: number;
    in_force: Optional<number>;
    reposted_at: Optional<Date>;
    created_at: Date;
    actor: string;
  };
  adjustments: {
    seq: Generated<number>;
    id: string;
    platform: string;
    day: string;
    kind: string;
    amount_cents: bigint;
    note: string;
    entry_seq: number;
    reverses_seq: Optional<number>;
    opening_seq: Optional<number>;
    bank_account: Optional<string>;
    created_at: Date;
    actor: string;
  };
  account_maps: {
    seq: Generated<number>;
    accounts: string;
    created_at: Date;
    actor: string;
  };
  imports: {
    seq: Generated<number>;
    id: string;
    kind: string;
    sha256: Buffer;
    bytes: number;
    rows_read: number;
    rows_changed: number;
    created_at: Date;
    actor: string;
  };
  platform_names: {
    seq: Generated<number>;
    platform: string;
    name: Optional<string>;
    created_at: Date;
    actor: string;
  };
  statements: {
    seq: Generated<number>;
    id: string;
    platform: string;
    at: Date;
    at_wall: string;
    balance_cents: bigint;
    compared_at: Optional<Date>;
    created_at: Date;
    actor: string;
  };
  commission_contracts: {
    seq: Generated<number>;
    id: string;
    platform: Optional<string>;
    operation: string;
    fixed_cents: bigint;
    basis_points: number;
    from_day: string;
    to_day: Optional<string>;
    created_at: Date;
    actor: string;
    withdrawn_at: Optional<Date>;
  };
};
