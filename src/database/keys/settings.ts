import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { type Kysely, sql, type Transaction } from 'kysely';
import { ConfereError } from '../../domain/errors.ts';
import type { Database } from '../tables.ts';
import { isDuplicateKey } from '../transact.ts';
import type { Vault } from './vault.ts';

const KEY_BYTES = 32;
export const KEY_CHECK = 'secret_key_check';

/** A setting, written once: the first value of any replica stands. */
export async function readOrCreateSetting(db: Kysely<Database>, name: string, propose: () => Buffer): Promise<Buffer> {
  const known = await readSetting(db, name);
  if (known) return known;
  try {
    const value = propose();
    await db.insertInto('settings').values({ name, value }).execute();
    return value;
  } catch (error) {
    const theirs = isDuplicateKey(error) ? await readSetting(db, name) : undefined;
    if (theirs) return theirs;
    throw error;
  }
}

export async function readSetting(db: Kysely<Database>, name: string): Promise<Buffer | undefined> {
  const row = await db.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst();
  return row?.value;
}

/**
 * The random keys of this installation, made once and never changed: they derive ids and search hashes. As objects: from
 * bytes each hash would make one anew, which costs more than the hash.
 */
export type Keys = { callbackIds: KeyObject; search: KeyObject };

/** @throws ConfereError when this SECRET_KEY is not the one that the database's secrets were encrypted with. */
export async function openKeys(db: Kysely<Database>, vault: Vault): Promise<Keys> {
  const stored = await readOrCreateSetting(db, KEY_CHECK, () => vault.check);
  if (!stored.equals(vault.check)) throw otherKey(vault);
  const open = async (name: string): Promise<KeyObject> =>
    createSecretKey(vault.decrypt(await readOrCreateSetting(db, name, () => vault.encrypt(randomBytes(KEY_BYTES)))));
  return { callbackIds: await open('key_callback_ids'), search: await open('key_search') };
}

/**
 * Encrypts what is to be stored in this transaction. While it runs the key is not rotated: a secret that was sealed
 * with a key that nobody has any more would be lost.
 * @throws ConfereError when the key was rotated since this process started.
 */
export async function encryptForStorage(trx: Transaction<Database>, vault: Vault, plain: Buffer): Promise<Buffer> {
  const row = await trx
    .selectFrom('settings')
    .select('value')
    .where('name', '=', KEY_CHECK)
    // the words that both servers know
    .modifyEnd(sql`LOCK IN SHARE MODE`)
    .executeTakeFirst();
  if (!row?.value.equals(vault.check)) throw otherKey(vault);
  return vault.encrypt(plain);
}

function otherKey({ keyId }: Vault): ConfereError {
  return new ConfereError(
    'config_invalid',
    `SECRET_KEY is not the one that this database is encrypted with (its key id is ${keyId}): set the same key on every replica; after confere rotate-key the new one, and start again`,
  );
}
