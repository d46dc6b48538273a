import type { Generated } from 'kysely';
import type { Optional } from './optional.ts';

/** Daily manifests of merchants' messages, and the keys that sign them. */
export type ManifestTables = {
  manifest_keys: {
    seq: Generated<number>;
    generation: number;
    id: string;
    public_key: Buffer;
    ciphertext: Optional<Buffer>;
    key_id: string;
    created_at: Date;
    signs_until: Optional<Date>;
  };
  due_day_manifests: {
    day: string;
    merchant_seq: number;
  };
  day_manifests: {
    seq: Generated<number>;
    merchant_seq: number;
    day: string;
    revision: number;
    facts_hash: Buffer;
    ids_digest: Buffer;
    callback_cut: number;
    is_proven: number;
    is_closed: number;
    payload: string;
    signatures: string;
    callback_seq: Optional<number>;
    made_at: Date;
  };
};
