import type { Generated, GeneratedAlways } from 'kysely';
import type { Optional } from './optional.ts';

/** Webhooks, and what is known of their senders and receivers. */
export type InboxTables = {
  webhooks: {
    seq: Generated<number>;
    hash: Buffer;
    body: Buffer;
    received_at: Date;
    source_address: string;
    headers: string;
    state: string;
    reason: Optional<string>;
    items: Generated<number>;
    repeats: Generated<number>;
    redacted_at: Optional<Date>;
    dropped_at: Optional<Date>;
    body_bytes: GeneratedAlways<number>;
  };
  webhook_repeats: {
    seq: Generated<number>;
    webhook_seq: number;
    received_at: Date;
    source_address: string;
  };
  webhook_items: {
    seq: Generated<number>;
    webhook_seq: number;
    position: number;
    received_at: Date;
    transaction_id: Optional<string>;
    reference: Optional<string>;
    extra_hash: Optional<Buffer>;
    claimed_status: Optional<string>;
    claimed_amount_cents: Optional<bigint>;
    resolved_id: Optional<string>;
    state: string;
    reason: Optional<string>;
    looks: Generated<number>;
    looked_at: Optional<Date>;
    next_look_at: Optional<Date>;
    contradicted: Generated<number>;
    lease_holder: Optional<string>;
    lease_until: Optional<Date>;
    misses: Generated<number>;
    granted: Generated<number>;
  };
  senders: {
    address: string;
    hit_at: Optional<Date>;
    hour_at: Date;
    shows: Generated<number>;
    garbage_bytes: Generated<number>;
  };
  receiver_minutes: {
    minute: Date;
    last_arrival_at: Optional<Date>;
  };
  spools: {
    name: string;
    seen_at: Date;
    since: Date;
    is_waiting: number;
  };
  body_archives: {
    first_webhook_seq: number;
    last_webhook_seq: number;
    file: string;
    bodies: number;
    body_bytes: number;
    file_bytes: number;
    archived_at: Date;
  };
  owed_webhooks: {
    event_seq: number;
    transaction_seq: number;
    event_at: Date;
    due_at: Date;
    run_seq: Optional<number>;
    settled_at: Optional<Date>;
    announced_at: Optional<Date>;
  };
};
