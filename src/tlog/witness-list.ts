import type { Config } from '../config.ts';
import { ConfereError } from '../domain/errors.ts';
import { parseWitnessKey, type Verifier } from './note.ts';

export type Witness = Verifier & { url: string };

/** Returns the witnesses of WITNESSES. @throws ConfereError `config_invalid` for a key that is none of a witness. */
export function listWitnesses({ WITNESSES }: Pick<Config, 'WITNESSES'>): Witness[] {
  return WITNESSES.list.map(({ key, url }) => {
    const verifier = parseWitnessKey(key);
    if (verifier) return { ...verifier, url };
    throw new ConfereError('config_invalid', `WITNESSES: ${key.split('+')[0]} has no Ed25519 key of a witness`);
  });
}
