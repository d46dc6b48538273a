import { createHmac } from 'node:crypto';
import type { Keys } from '../database/keys/settings.ts';

/** Identifies an expected payment, byte for byte. */
export type ExpectedKey = { source: string; number: string };

const ID_BYTES = 16;

/** Returns the id of an expected payment: derived, so that it is the same after a restore. */
export function idOf(keys: Keys, { source, number }: ExpectedKey): string {
  // no source has a blank
  return `ep_${hashKey(keys, 'expected', `${source} ${number}`).subarray(0, ID_BYTES).toString('hex')}`;
}

/** @param use keeps hashes of different things apart. */
export function hashKey(keys: Keys, use: string, text: string): Buffer {
  return createHmac('sha256', keys.search).update(`${use}\n`).update(text).digest();
}
