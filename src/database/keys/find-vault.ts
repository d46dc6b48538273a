import { randomBytes } from 'node:crypto';
import type { Config } from '../../config.ts';
import type { Reader } from '../reader.ts';
import { adoptNextKey, findNextKey, readOrCreateSecretKey, readSecretKey } from './secret-key-file.ts';
import { KEY_CHECK, readSetting } from './settings.ts';
import { createVault, type Vault } from './vault.ts';

/**
 * Uses the key of the environment, else of DATA_DIR: there the next key, if a rotation was interrupted after encrypting.
 * @param readOnly creates no key and renames none: where there is no key, nothing is encrypted yet, and any key will do.
 */
export async function findVault(db: Reader, config: Config, readOnly: boolean): Promise<Vault> {
  if (config.SECRET_KEY) return createVault(config.SECRET_KEY);
  const key = readOnly ? (readSecretKey(config.DATA_DIR) ?? randomBytes(32)) : readOrCreateSecretKey(config.DATA_DIR);
  const vault = createVault(key);
  const check = await readSetting(db, KEY_CHECK);
  if (check === undefined || check.equals(vault.check)) return vault;
  const next = findNextKey(config.DATA_DIR, check);
  if (!next) return vault;
  if (!readOnly) adoptNextKey(config.DATA_DIR, next.file);
  return createVault(next.key);
}
