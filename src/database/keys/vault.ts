import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { ConfereError } from '../../domain/errors.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 1;
const KEY_ID_BYTES = 8;
const HEAD_BYTES = 1 + KEY_ID_BYTES;
const CHECK_TEXT = 'confere';

/**
 * Encrypts stored secrets with AES-256-GCM and a fresh nonce. Format: version, key id, nonce, tag, ciphertext. Values from
 * before key ids have no version and no key id.
 */
export type Vault = {
  /** First 8 bytes of a hash of the key, in hex: distinguishes keys without revealing them. */
  keyId: string;
  /** Stored in the database to recognize the key. */
  check: Buffer;
  encrypt(plain: Buffer): Buffer;
  /** @throws ConfereError `config_invalid` if another key encrypted it. */
  decrypt(sealed: Buffer): Buffer;
};

export function createVault(secretKey: Buffer): Vault {
  const keyId = createHash('sha256').update('confere key id').update(secretKey).digest().subarray(0, KEY_ID_BYTES);
  const head = Buffer.concat([Buffer.from([VERSION]), keyId]);
  return {
    keyId: keyId.toString('hex'),
    check: createHash('sha256').update(CHECK_TEXT).update(secretKey).digest(),
    encrypt(plain) {
      const [nonce, tag, body] = encrypt(secretKey, plain);
      return Buffer.concat([head, nonce, tag, body]);
    },
    decrypt(sealed) {
      const plain = sealed.subarray(0, HEAD_BYTES).equals(head) ? sealed.subarray(HEAD_BYTES) : sealed;
      try {
        return decrypt(secretKey, plain);
      } catch (error) {
        throw new ConfereError(
          'config_invalid',
          `a stored secret was not encrypted with this SECRET_KEY (key id ${keyId.toString('hex')}): after confere rotate-key, give every replica the new one and start it again`,
          { cause: error },
        );
      }
    },
  };
}

/**
 * @param plainBytes length of what was encrypted.
 * @returns the id of the key that a value was encrypted with; undefined for one from before key ids.
 */
export function readKeyId(sealed: Buffer, plainBytes: number): string | undefined {
  if (sealed.length !== HEAD_BYTES + NONCE_BYTES + TAG_BYTES + plainBytes) return undefined;
  return sealed.subarray(1, HEAD_BYTES).toString('hex');
}

function encrypt(key: Buffer, plain: Buffer): [Buffer, Buffer, Buffer] {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return [nonce, cipher.getAuthTag(), body];
}

function decrypt(key: Buffer, sealed: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}
