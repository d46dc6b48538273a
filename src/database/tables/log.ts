import type { Generated } from 'kysely';
import type { Optional } from './optional.ts';

/** The Merkle log over the seals, merchants' days and closed months, its checkpoints, and who countersigned them. */
export type LogTables = {
  log_hashes: {
    level: number;
    position: number;
    hash: Buffer;
    kind: Optional<'seal' | 'month' | 'day'>;
    ref: Optional<number>;
  };
  log_queue: {
    seq: Generated<number>;
    kind: 'seal' | 'month' | 'day';
    ref: number;
    hash: Buffer;
  };
  log_origins: {
    seq: number;
    origin: string;
    from_size: number;
    started_at: Date;
  };
  log_checkpoints: {
    seq: Generated<number>;
    origin_seq: number;
    size: number;
    root: Buffer;
    note: string;
    made_at: Date;
  };
  log_cosignatures: {
    checkpoint_seq: number;
    witness: string;
    line: string;
    received_at: Date;
  };
  log_witnesses: {
    name: string;
    failing_since: Optional<Date>;
    refused: Optional<string>;
  };
};
