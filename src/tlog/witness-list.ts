import type { Config } from '../config.ts';
import { ConfereError } from '../domain/errors.ts';
import { parseWitnessKey, type Verifier } from './note.ts';

export type Witness = Verifier & { url: string };
type Settings = Pick<Config, 'WITNESSES' | 'WITNESS_QUORUM'>;

/** Returns the witnesses of WITNESSES. @throws ConfereError `config_invalid` for a key that is none of a witness. */
export function listWitnesses({ WITNESSES }: Settings): Witness[] {
  return WITNESSES.map(({ key, url }) => {
    const verifier = parseWitnessKey(key);
    if (verifier) return { ...verifier, url };
    throw new ConfereError('config_invalid', `WITNESSES: ${key.split('+')[0]} has no Ed25519 key of a witness`);
  });
}

/** How many of the witnesses must countersign a checkpoint: WITNESS_QUORUM, or all. */
export function quorumOf({ WITNESSES, WITNESS_QUORUM }: Settings): number {
  return WITNESS_QUORUM ?? WITNESSES.length;
}
