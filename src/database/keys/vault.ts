import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { ConfereError } from '../../domain/errors.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
/** Opens in its place alone. */
const PLACED = 2;
/** Opens in any place: the form of earlier versions, written beside them. The next release refuses it. */
const UNPLACED = 1;
const KEY_ID_BYTES = 8;
const HEAD_BYTES = 1 + KEY_ID_BYTES;
const CHECK_TEXT = 'confere';

/**
 * Where a value is sealed: it opens nowhere else. Each purpose has a key of its own.
 * @property purpose the table and the column, or what else is sealed.
 * @property row identifies the row: values that never change.
 */
export type Place = { purpose: string; row: readonly (string | number | Buffer | Date | null)[] };

/**
 * Encrypts stored secrets with AES-256-GCM and a fresh nonce. Format: version, key id, nonce, tag, ciphertext. A placed value has the
 * key of its purpose (HKDF of the secret key), and its place as additional data. Values from before key ids have no version and no key
 * id.
 */
export type Vault = {
  /** First 8 bytes of a hash of the key, in hex: distinguishes keys without revealing them. */
  keyId: string;
  /** Stored in the database to recognize the key. */
  check: Buffer;
  /** Whether `encrypt` binds a value to its place; false while processes may run that could not read it. */
  binds: () => boolean;
  encrypt(plain: Buffer, place: Place): Buffer;
  /** @throws ConfereError `config_invalid` if another key encrypted it, or if it was sealed in another place. */
  decrypt(sealed: Buffer, place: Place): Buffer;
  /** Whether this key sealed a value, bound to its place. */
  isPlaced(sealed: Buffer): boolean;
};

export function createVault(secretKey: Buffer, binds: () => boolean = () => true): Vault {
  const id = createHash('sha256').update('confere key id').update(secretKey).digest().subarray(0, KEY_ID_BYTES);
  const keyId = id.toString('hex');
  const [placed, unplaced] = [PLACED, UNPLACED].map((version) => Buffer.concat([Buffer.from([version]), id])) as [
    Buffer,
    Buffer,
  ];
  const keys = new Map<string, Buffer>();
  const keyOf = (purpose: string): Buffer => {
    const key = keys.get(purpose) ?? deriveKey(secretKey, purpose);
    keys.set(purpose, key);
    return key;
  };
  const startsWith = (sealed: Buffer, head: Buffer): boolean => sealed.subarray(0, HEAD_BYTES).equals(head);
  return {
    keyId,
    check: createHash('sha256').update(CHECK_TEXT).update(secretKey).digest(),
    binds,
    encrypt(plain, place) {
      if (!binds()) return Buffer.concat([unplaced, encrypt(secretKey, plain, NO_PLACE)]);
      return Buffer.concat([placed, encrypt(keyOf(place.purpose), plain, describePlace(place))]);
    },
    decrypt(sealed, place) {
      const body = sealed.subarray(HEAD_BYTES);
      try {
        if (startsWith(sealed, placed)) return decrypt(keyOf(place.purpose), body, describePlace(place));
        return decrypt(secretKey, startsWith(sealed, unplaced) ? body : sealed, NO_PLACE);
      } catch (error) {
        const isMoved = startsWith(sealed, placed) || startsWith(sealed, unplaced);
        const why = isMoved
          ? `a sealed value of ${place.purpose} is damaged, or was sealed in another row: restore it, or enter it again`
          : `a stored secret was not encrypted with this SECRET_KEY (key id ${keyId}): after confere rotate-key, give every replica the new one and start it again`;
        throw new ConfereError('config_invalid', why, { cause: error });
      }
    },
    isPlaced: (sealed) => startsWith(sealed, placed),
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

const NO_PLACE = Buffer.alloc(0);

/** JSON: no two places have the same text. */
function describePlace({ purpose, row }: Place): Buffer {
  return Buffer.from(JSON.stringify([purpose, ...row]));
}

function deriveKey(secretKey: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, '', `confere ${purpose}`, KEY_BYTES));
}

function encrypt(key: Buffer, plain: Buffer, place: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(place);
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

function decrypt(key: Buffer, sealed: Buffer, place: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES)).setAAD(place);
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}
