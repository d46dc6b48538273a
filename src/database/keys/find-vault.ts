import { randomBytes } from 'node:crypto';
import type { Config } from '../../config.ts';
import type { Reader } from '../reader.ts';
import { adoptNextKey, findNextKey, readOrCreateSecretKey, readSecretKey, secretKeyFile } from './secret-key-file.ts';
import { explainOtherKey, KEY_BYTES, KEY_CHECK, readSetting } from './settings.ts';
import { createVault, type Vault } from './vault.ts';
import { WrongKeyError } from './wrong-key-error.ts';

const NO_SUCH_TABLE_ERRNO = 1146;

/**
 * Uses the key of the environment, else of DATA_DIR: there the next key, if a rotation was interrupted after encrypting. A
 * key is created only for a database that names none. Comes before the migrations: with the key of another installation
 * nothing may be changed.
 * @param readOnly creates no key and renames none: where there is no key, nothing is encrypted yet, and any key will do.
 * @param binds whether secrets are bound to their place; see Vault.
 * @throws ConfereError if the database is encrypted with another key.
 */
export async function findVault(db: Reader, config: Config, readOnly: boolean, binds?: () => boolean): Promise<Vault> {
  const check = await readCheck(db);
  const known = readKey(config);
  if (!check) {
    const key = known ?? (readOnly ? randomBytes(KEY_BYTES) : readOrCreateSecretKey(config.DATA_DIR));
    return createVault(requireLength(key, config), binds);
  }
  const vault = known && createVault(known, binds);
  if (vault && check.equals(vault.check)) return vault;
  const next = config.SECRET_KEY ? undefined : findNextKey(config.DATA_DIR, check);
  if (!next) throw await explainWrongKey(db, config, known);
  if (!readOnly) adoptNextKey(config.DATA_DIR, next.file);
  return createVault(next.key, binds);
}

/** @param key of SECRET_KEY or DATA_DIR; undefined if there is none. @returns the error that names it, and the key that is needed. */
export async function explainWrongKey(db: Reader, config: Config, key: Buffer | undefined): Promise<WrongKeyError> {
  const id = key && createVault(requireLength(key, config)).keyId;
  return await explainOtherKey(db, nameKey(config), id);
}

function readKey({ SECRET_KEY, DATA_DIR }: Config): Buffer | undefined {
  return SECRET_KEY ?? readSecretKey(DATA_DIR);
}

/** `SECRET_KEY`, `SECRET_KEY_FILE (/run/secrets/key)` or `/var/lib/confere/secret.key`: where the key comes from. */
function nameKey({ SECRET_KEY, SECRET_KEY_FROM, DATA_DIR }: Config): string {
  return SECRET_KEY ? SECRET_KEY_FROM : secretKeyFile(DATA_DIR);
}

function requireLength(key: Buffer, config: Config): Buffer {
  if (key.length === KEY_BYTES) return key;
  throw new WrongKeyError(
    `${nameKey(config)} does not hold base64 of ${KEY_BYTES} bytes: put the key there, from a backup or another replica. See docs/lost-key.md`,
  );
}

/** @returns undefined before there are tables, and before the first key. */
async function readCheck(db: Reader): Promise<Buffer | undefined> {
  try {
    return await readSetting(db, KEY_CHECK);
  } catch (error) {
    if ((error as { errno?: unknown }).errno === NO_SUCH_TABLE_ERRNO) return undefined;
    throw error;
  }
}
