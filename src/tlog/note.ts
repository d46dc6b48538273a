/**
 * Signed notes, checkpoints and cosignatures of C2SP (signed-note, tlog-checkpoint, tlog-cosignature), by Ed25519. Pure.
 */
import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/** Types of signatures: the note by its log, and a checkpoint with a time by a witness. */
const NOTE = 1;
const COSIGNATURE = 4;
const KEY_ID_BYTES = 4;
const TIME_BYTES = 8;

export type Checkpoint = { origin: string; size: number; root: Buffer };
/** `publicKey`: 32 bytes. */
export type Verifier = { name: string; keyId: Buffer; publicKey: Buffer };
type Signature = { name: string; keyId: Buffer; bytes: Buffer; line: string };

/** A verifier key as text: `name+id+base64`. */
export function formatVerifier(name: string, publicKey: Buffer): string {
  const { keyId } = verifierOf(name, publicKey);
  return `${name}+${keyId.toString('hex')}+${withType(NOTE, publicKey).toString('base64')}`;
}

/** Reads the verifier key of a witness. @returns undefined if it is none, or another's id is in it. */
export function parseWitnessKey(text: string): Verifier | undefined {
  const [name = '', id, base64 = '', ...more] = text.split('+', 2).concat(text.split('+').slice(2).join('+'));
  const bytes = Buffer.from(base64, 'base64');
  if (more.length > 0 || !isKeyName(name) || bytes.length !== 33 || bytes[0] !== COSIGNATURE) return undefined;
  const verifier = verifierOf(name, bytes.subarray(1), COSIGNATURE);
  return verifier.keyId.toString('hex') === id ? verifier : undefined;
}

/** A key's name, and an origin: no space, and no plus. */
export function isKeyName(name: string): boolean {
  return /^[^\s+\p{Cc}]{1,200}$/u.test(name);
}

/** The verifier of a log, by its origin. */
export function verifierOf(name: string, publicKey: Buffer, type = NOTE): Verifier {
  const hash = createHash('sha256').update(`${name}\n`).update(withType(type, publicKey)).digest();
  return { name, keyId: hash.subarray(0, KEY_ID_BYTES), publicKey };
}

export function formatCheckpoint({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${root.toString('base64')}\n`;
}

/** A proof that a leaf is in the log. @param hashes those of RFC 9162, section 2.1.3. @param note the signed checkpoint. */
export function formatProof(position: number, hashes: Buffer[], note: string): string {
  const lines = hashes.map((hash) => `${hash.toString('base64')}\n`);
  return `c2sp.org/tlog-proof@v1\nindex ${position}\n${lines.join('')}\n${note}`;
}

/** Signs a text with each key, in their order. */
export function signNote(text: string, signers: (Verifier & { privateKey: KeyObject })[]): string {
  const lines = signers.map(({ name, keyId, privateKey }) => {
    const signature = Buffer.concat([keyId, sign(null, Buffer.from(text), privateKey)]);
    return `— ${name} ${signature.toString('base64')}\n`;
  });
  return `${text}\n${lines.join('')}`;
}

/** Reads a checkpoint and its signatures; verifies nothing. @returns undefined for another text. */
export function parseCheckpoint(note: string): (Checkpoint & { text: string; signatures: Signature[] }) | undefined {
  const end = note.lastIndexOf('\n\n') + 1;
  const text = note.slice(0, end);
  const [origin = '', size = '', root = '', last] = text.split('\n');
  const hash = Buffer.from(root, 'base64');
  if (last !== '' || !isKeyName(origin) || !/^(?:0|[1-9]\d{0,14})$/.test(size) || hash.length !== 32) return undefined;
  return { origin, size: Number(size), root: hash, text, signatures: parseSignatures(note.slice(end + 1)) };
}

/** Reads signature lines; leaves out what is none. */
export function parseSignatures(lines: string): Signature[] {
  return lines.split('\n').flatMap((line) => {
    const [dash, name = '', base64 = '', ...more] = line.split(' ');
    const bytes = Buffer.from(base64, 'base64');
    if (dash !== '—' || !isKeyName(name) || more.length > 0 || bytes.length <= KEY_ID_BYTES) return [];
    return { name, keyId: bytes.subarray(0, KEY_ID_BYTES), bytes: bytes.subarray(KEY_ID_BYTES), line };
  });
}

/** Whether one of the verifiers signed the text, and none of their signatures is wrong. */
export function isSignedNote(text: string, signatures: Signature[], verifiers: Verifier[]): boolean {
  const known = signatures.flatMap((signature) => {
    const verifier = verifiers.find((one) => isOf(signature, one));
    return verifier ? [verifySignature(Buffer.from(text), signature.bytes, verifier)] : [];
  });
  return known.length > 0 && known.every(Boolean);
}

/** Returns the first line by which a witness signed the checkpoint, with a time. */
export function findCosignature(text: string, signatures: Signature[], witness: Verifier): string | undefined {
  return signatures.find((signature) => {
    if (!isOf(signature, witness) || signature.bytes.length <= TIME_BYTES) return false;
    const time = signature.bytes.readBigUInt64BE();
    const message = Buffer.from(`cosignature/v1\ntime ${time}\n${text}`);
    return time > 0n && verifySignature(message, signature.bytes.subarray(TIME_BYTES), witness);
  })?.line;
}

function isOf(signature: Signature, { name, keyId }: Verifier): boolean {
  return signature.name === name && signature.keyId.equals(keyId);
}

function verifySignature(message: Buffer, signature: Buffer, { publicKey }: Verifier): boolean {
  const key = createPublicKey({
    format: 'jwk',
    key: { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') },
  });
  return verify(null, message, key, signature);
}

function withType(type: number, publicKey: Buffer): Buffer {
  return Buffer.concat([Buffer.from([type]), publicKey]);
}
