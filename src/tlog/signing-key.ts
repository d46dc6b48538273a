/** Ed25519 keys, and public ones as JSON Web Keys (RFC 8037), by their thumbprints. Pure. */
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';

/** `id`: the thumbprint of the public key (RFC 7638). */
export type SigningKey = { id: string; publicKey: Buffer; privateKey: KeyObject };

/** Generates a key pair. `publicKey`: its 32 bytes. */
export function generateSigningKey(): SigningKey {
  const pair = generateKeyPairSync('ed25519');
  const { x = '' } = pair.publicKey.export({ format: 'jwk' });
  return { id: thumbprintOf(x), privateKey: pair.privateKey, publicKey: Buffer.from(x, 'base64url') };
}

/** A public key as a JSON Web Key, with its PEM, which openssl reads. */
export function presentPublicKey(publicKey: Buffer) {
  const x = publicKey.toString('base64url');
  const jwk = { kty: 'OKP', crv: 'Ed25519', x } as const;
  const pem = createPublicKey({ format: 'jwk', key: jwk }).export({ format: 'pem', type: 'spki' });
  return { ...jwk, kid: thumbprintOf(x), alg: 'EdDSA' as const, use: 'sig' as const, pem: String(pem) };
}

/** The members that RFC 7638 names, in the order of their names. */
function thumbprintOf(x: string): string {
  return createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
    .digest('base64url');
}
