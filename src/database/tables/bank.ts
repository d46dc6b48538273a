import type { Generated } from 'kysely';
import type { Optional } from './optional.ts';

/** The statements of the company's bank account. */
export type BankTables = {
  bank_accounts: {
    seq: Generated<number>;
    account: string;
    name: string | null;
    not_pix: string;
    csv: string | null;
    balance_cents: Optional<bigint>;
    balance_day: Optional<string>;
    created_at: Date;
    actor: string;
  };
  bank_statements: {
    seq: Generated<number>;
    sha256: Buffer;
    position: number;
    account: string;
    from_day: Optional<string>;
    to_day: Optional<string>;
    balance_cents: Optional<bigint>;
    balance_day: Optional<string>;
    line_count: number;
    spelled: Optional<string>;
    created_at: Date;
    actor: string;
  };
  bank_lines: {
    seq: Generated<number>;
    statement_seq: number;
    account: string;
    fitid_hash: Buffer;
    occurrence: Optional<number>;
    day: string;
    amount_cents: bigint;
    type: string;
  };
  bank_line_texts: {
    line_seq: number;
    fitid: string;
    name: string;
    memo: string;
    check_number: string;
    reference_number: string;
    content_hash: Optional<Buffer>;
  };
  bank_matches: {
    seq: Generated<number>;
    line_seq: number;
    /** null: the line is nothing of PIX. */
    entry_seq: Optional<number>;
    rule: string;
    undoes_seq: Optional<number>;
    created_at: Date;
    actor: string;
  };
  bank_match_notes: {
    match_seq: number;
    note: string;
  };
};
