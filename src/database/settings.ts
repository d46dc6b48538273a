import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import { ConfereError } from '../domain/errors.ts';
import type { Database } from './tables.ts';
import { isDuplicate } from './transact.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const CHECK_TEXT = 'confere';

/** Encrypts what is stored (AES-256-GCM, a fresh nonce each time): nonce, tag, ciphertext. */
export type Vault = { seal(plain: Buffer): Buffer; open(sealed: Buffer): Buffer };

export function createVault(secretKey: Buffer): Vault {
  return {
    seal(plain) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', secretKey, nonce);
      const body = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]);
    },
    open(sealed) {
      const decipher = createDecipheriv('aes-256-gcm', secretKey, sealed.subarray(0, NONCE_BYTES));
      decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    },
  };
}

/** A setting, written once: the first value of any replica stands. */
export async function settle(db: Kysely<Database>, name: string, propose: () => Buffer): Promise<Buffer> {
  const known = await readSetting(db, name);
  if (known) return known;
  try {
    const value = propose();
    await db.insertInto('settings').values({ name, value }).execute();
    return value;
  } catch (error) {
    const theirs = isDuplicate(error) ? await readSetting(db, name) : undefined;
    if (theirs) return theirs;
    throw error;
  }
}

export async function readSetting(db: Kysely<Database>, name: string): Promise<Buffer | undefined> {
  const row = await db.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst();
  return row?.value;
}

/** The random keys of this installation, made once and never changed: they derive ids and search hashes. */
export type Keys = { callbackIds: Buffer; search: Buffer };

/** @throws ConfereError when this SECRET_KEY is not the one that the database's secrets were encrypted with. */
export async function openKeys(db: Kysely<Database>, vault: Vault, secretKey: Buffer): Promise<Keys> {
  const check = createHash('sha256').update(CHECK_TEXT).update(secretKey).digest();
  const stored = await settle(db, 'secret_key_check', () => check);
  if (!stored.equals(check)) {
    throw new ConfereError(
      'config_invalid',
      'SECRET_KEY is not the one that this database was set up with: set the same key on every replica',
    );
  }
  const open = async (name: string): Promise<Buffer> =>
    vault.open(await settle(db, name, () => vault.seal(randomBytes(KEY_BYTES))));
  return { callbackIds: await open('key_callback_ids'), search: await open('key_search') };
}
