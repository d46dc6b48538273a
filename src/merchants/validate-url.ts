import ipaddr from 'ipaddr.js';
import { isPlainHttp } from '../config-fields.ts';
import { validateAddress } from './validate-address.ts';

const URL_LENGTH_MAX = 2048;

/**
 * Whether a text can be a merchant's address. Names are judged at each connect, when they are resolved; an address
 * that stands in the URL itself is judged here already, so that whoever enters it hears of it.
 * @returns why not, or undefined when it can.
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
  // URL has turned hex, decimal and short forms into the plain one
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const refusal = ipaddr.isValid(host) ? validateAddress(host, allowPrivate) : undefined;
  return refusal && `leads to ${refusal}, where callbacks do not go`;
}
