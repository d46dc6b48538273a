import type { Generated } from 'kysely';
import type { Optional } from './optional.ts';

/** Settings, access to the API and the console, jobs, restores, and what each process last did. */
export type AccessTables = {
  settings: {
    name: string;
    value: Buffer;
  };
  tokens: {
    seq: Generated<number>;
    id: string;
    name: string;
    role: string;
    merchant_seq: Optional<number>;
    token_hash: Buffer;
    created_at: Date;
    revoked_at: Optional<Date>;
    expires_at: Optional<Date>;
    last_used_at: Optional<Date>;
    sources: Optional<string>;
  };
  sessions: {
    session_hash: Buffer;
    token_seq: Optional<number>;
    created_at: Date;
    expires_at: Date;
    opened_with: Optional<Buffer>;
    user_seq: Optional<number>;
    role: Optional<string>;
  };
  users: {
    seq: Generated<number>;
    id: string;
    issuer: string;
    subject: Optional<string>;
    name: Optional<string>;
    role: Optional<string>;
    created_at: Date;
    last_login_at: Date;
  };
  audit: {
    seq: Generated<number>;
    at: Date;
    actor: string;
    action: string;
    target: string;
    detail: Optional<string>;
    id: Optional<string>;
  };
  audit_archives: {
    first_audit_seq: number;
    last_audit_seq: number;
    file: string;
    entries: number;
    file_bytes: number;
    archived_at: Date;
  };
  idempotency_keys: {
    key_hash: Buffer;
    request_hash: Buffer;
    holder: Buffer;
    lease_until: Date;
    created_at: Date;
  };
  idempotency_results: {
    seq: Generated<number>;
    key_hash: Buffer;
    number: number;
    sealed: Optional<Buffer>;
  };
  job_ticks: {
    job: string;
    due_at: Date;
    holder: string;
    lease_until: Date;
    tries: Generated<number>;
    finished_at: Optional<Date>;
    error: Optional<string>;
    started_at: Optional<Date>;
  };
  restores: {
    seq: Generated<number>;
    gap_from: Date;
    gap_to: Optional<Date>;
    restored_at: Date;
    head_position: number;
    confirmed_at: Optional<Date>;
  };
  size_days: {
    name: string;
    host: string;
    measured_at: Date;
    day: string;
    bytes: number;
  };
  heartbeats: {
    part: string;
    holder: string;
    host: string;
    seen_at: Date;
    short_bytes: Optional<number>;
    ahead_ms: Optional<number>;
    facts: Optional<string>;
    version: Optional<string>;
    started_at: Optional<Date>;
    stopped_at: Optional<Date>;
  };
};
