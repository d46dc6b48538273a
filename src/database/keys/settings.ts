import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { Reader } from '../reader.ts';
import type { Database } from '../tables.ts';
import { isDuplicateKey } from '../transact.ts';
import { placeOf } from './sealed-columns.ts';
import { createVault, type Place, readKeyId, type Vault } from './vault.ts';
import { WrongKeyError } from './wrong-key-error.ts';

export const KEY_BYTES = 32;
export const KEY_CHECK = 'secret_key_check';

/** Reads a setting, or writes it once: the first value of any replica is kept. */
export async function readOrCreateSetting(db: Kysely<Database>, name: string, propose: () => Buffer): Promise<Buffer> {
  const known = await readSetting(db, name);
  if (known) return known;
  try {
    const value = propose();
    await db.insertInto('settings').values({ name, value }).execute();
    return value;
  } catch (error) {
    const stored = isDuplicateKey(error) ? await readSetting(db, name) : undefined;
    if (stored) return stored;
    throw error;
  }
}

/** Reads a setting, or proposes its value without writing it. */
export async function readOrProposeSetting(db: Reader, name: string, propose: () => Buffer): Promise<Buffer> {
  return (await readSetting(db, name)) ?? propose();
}

export async function readSetting(db: Reader, name: string): Promise<Buffer | undefined> {
  const row = await db.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst();
  return row?.value;
}

/**
 * Random keys of this installation, generated once and never changed: they derive ids and search hashes, and encrypt archives.
 * KeyObjects, because creating one from bytes costs more than a hash.
 */
export type Keys = { callbackIds: KeyObject; search: KeyObject; archive: Vault };

/**
 * Opens the keys, or creates them.
 * @param readOrPropose `readOrCreateSetting`; `readOrProposeSetting` where nothing may be written.
 * @throws ConfereError if another process has just given the database another key.
 */
export async function openKeys(
  db: Kysely<Database>,
  vault: Vault,
  readOrPropose: typeof readOrCreateSetting = readOrCreateSetting,
): Promise<Keys> {
  const stored = await readOrPropose(db, KEY_CHECK, () => vault.check);
  if (!stored.equals(vault.check)) throw await explainOtherKey(db, 'the key of this process', vault.keyId);
  const open = async (name: string): Promise<Buffer> => {
    const place = placeOf('settings', { name });
    return vault.decrypt(await readOrPropose(db, name, () => vault.encrypt(randomBytes(KEY_BYTES), place)), place);
  };
  return {
    callbackIds: createSecretKey(await open('key_callback_ids')),
    search: createSecretKey(await open('key_search')),
    // a key of its own: a rotation of SECRET_KEY encrypts this key again, and no archive
    archive: createVault(await open('key_archive'), vault.binds),
  };
}

/**
 * Encrypts a secret that this transaction stores. A share lock keeps the key from being rotated until the transaction
 * ends: otherwise a secret encrypted with the old key would be lost.
 * @throws ConfereError when the key was rotated since this process started.
 */
export async function encryptForStorage(
  trx: Transaction<Database>,
  vault: Vault,
  plain: Buffer,
  place: Place,
): Promise<Buffer> {
  await requireKey(trx, vault);
  return vault.encrypt(plain, place);
}

/** Keeps the key from being rotated until the transaction ends. @throws as encryptForStorage. */
export async function requireKey(trx: Transaction<Database>, vault: Vault): Promise<void> {
  const row = await trx
    .selectFrom('settings')
    .select('value')
    .where('name', '=', KEY_CHECK)
    // syntax that MariaDB and MySQL both know
    .modifyEnd(sql`LOCK IN SHARE MODE`)
    .executeTakeFirst();
  if (!row?.value.equals(vault.check)) throw await explainOtherKey(trx, 'the key of this process', vault.keyId);
}

/**
 * @param name where the key comes from. @param found its id; undefined if it is not there.
 * @returns the error that names both keys.
 */
export async function explainOtherKey(db: Reader, name: string, found: string | undefined): Promise<WrongKeyError> {
  const sealed = await readSetting(db, 'key_search');
  const needed = sealed && readKeyId(sealed, KEY_BYTES);
  const wrong = found === undefined ? `${name} is missing` : `${name} (key id ${found}) is the wrong key`;
  return new WrongKeyError(
    `${wrong}: this database is encrypted with ${needed ? `the key id ${needed}` : 'another key'}. Put that key there, on every replica, and start again; ` +
      'after confere rotate-key it is the new one. docs/lost-key.md says where to search for it, and how to go on without it',
  );
}
