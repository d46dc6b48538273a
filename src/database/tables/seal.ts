import type { Generated } from 'kysely';
import type { Optional } from './optional.ts';

/** The hash chain over the journal, and what the books check proved of it. */
export type SealTables = {
  seals: {
    position: number;
    entry_seq: number;
    event_seq: number;
    mismatch_change_seq: number;
    members: string;
    entries: number;
    stragglers: number;
    previous_hash: Buffer;
    hash: Buffer;
    sealed_at: Date;
    audit_seq: Optional<number>;
    audit_members: Optional<string>;
    fact_change_seq: Optional<number>;
  };
  seal_stragglers: {
    entry_seq: number;
    position: number;
  };
  sealing: {
    id: number;
    holder: Optional<string>;
    lease_until: Optional<Date>;
    refunds_position: Generated<number>;
  };
  refund_spans: {
    grain: string;
    span: string;
    account_seq: number;
    amount_cents: bigint;
  };
  balance_spans: {
    grain: string;
    span: string;
    account_seq: number;
    amount_cents: bigint;
  };
  books_checks: {
    seq: Generated<number>;
    since_seq: Optional<number>;
    version: string;
    started_at: Date;
    saved_at: Date;
    saves: Generated<number>;
    finished_at: Optional<Date>;
    position: number;
    hash: Buffer;
    entries: number;
    transactions: number;
    broken: number;
    state: string;
    signature: Buffer;
  };
};
