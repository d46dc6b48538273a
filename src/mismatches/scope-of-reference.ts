import { createHmac } from 'node:crypto';
import type { Keys } from '../database/keys/settings.ts';

/**
 * Returns the scope of a `duplicate_reference`: a keyed hash, because a reference may contain a document or a name. A
 * hash has one length, so two long references are not truncated to one scope.
 */
export function scopeOfReference(keys: Keys, reference: string): string {
  return `hmac:${createHmac('sha256', keys.search).update('reference ').update(reference).digest('hex')}`;
}
