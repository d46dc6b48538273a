/**
 * Ed25519 keys as JSON Web Keys (RFC 8037), and signatures of a JWS in its general form (RFC 7515, section 7.2.1): one for
 * each key that signs. Any JOSE library verifies them; so do openssl and jq (docs/verify-manifest.sh). Pure.
 */
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

/** `id`: the thumbprint of the public key (RFC 7638). */
export type SigningKey = { id: string; publicKey: Buffer; privateKey: KeyObject };
export type JwsSignature = { protected: string; signature: string };

/** Generates a key pair. `publicKey`: its 32 bytes. */
export function generateSigningKey(): SigningKey {
  const pair = generateKeyPairSync('ed25519');
  const { x = '' } = pair.publicKey.export({ format: 'jwk' });
  return { id: thumbprintOf(x), privateKey: pair.privateKey, publicKey: Buffer.from(x, 'base64url') };
}

/** Signs a text with each key, in their order. The members of a JWS in its general form. */
export function signStatement(
  text: string,
  keys: readonly SigningKey[],
): { payload: string; signatures: JwsSignature[] } {
  const payload = Buffer.from(text).toString('base64url');
  const signatures = keys.map(({ id, privateKey }) => {
    const header = Buffer.from(JSON.stringify({ alg: 'EdDSA', kid: id })).toString('base64url');
    const signature = sign(null, Buffer.from(`${header}.${payload}`), privateKey).toString('base64url');
    return { protected: header, signature };
  });
  return { payload, signatures };
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
