import ipaddr from 'ipaddr.js';
import { isPlainHttp } from '../config/fields.ts';
import { validateAddress } from './validate-address.ts';

const URL_LENGTH_MAX = 2048;

/**
 * Checks whether a text can be a merchant's URL. Names are checked at each connect, when they are resolved. An IP address
 * in the URL is checked here too, so that the user gets the error at once.
 * @returns the reason for refusal, or undefined if it is allowed.
 */
export function validateUrl(
  text: string,
  { allowPrivate, allowPlain }: { allowPrivate: boolean; allowPlain: boolean },
): string | undefined {
  if (!URL.canParse(text)) return 'must be an address: https://…';
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must start with https:// or http://';
  if (url.username !== '' || url.password !== '') return 'must not hold a user or password';
  if (url.hostname === '') return 'must name a host';
  if (url.href.length > URL_LENGTH_MAX) return `must be at most ${URL_LENGTH_MAX} characters`;
  if (!allowPlain && isPlainHttp(text)) return 'must start with https://: ALLOW_PLAIN_HTTP=true sends in the clear';
  // URL normalizes hex, decimal and short forms of an IP address
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const refusal = ipaddr.isValid(host) ? validateAddress(host, allowPrivate) : undefined;
  return refusal && `leads to ${refusal}, where callbacks do not go`;
}
