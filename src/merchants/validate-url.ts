import ipaddr from 'ipaddr.js';
import { isPlainHttp } from '../config/fields.ts';
import type { FieldFault } from '../domain/errors.ts';
import { faultOf } from '../texts/refuse.ts';
import { validateAddress } from './validate-address.ts';

export const URL_LENGTH_MAX = 2048;

/**
 * Checks whether a text can be a merchant's URL. Names are checked at each connect, when they are resolved. An IP address
 * in the URL is checked here too, so that the user gets the error at once.
 * @returns what is wrong; undefined if it is allowed.
 */
export function validateUrl(
  text: string,
  { allowPrivate, allowPlain }: { allowPrivate: boolean; allowPlain: boolean },
): FieldFault | undefined {
  if (!URL.canParse(text)) return faultOf('url', 'url_wrong');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return faultOf('url', 'url_scheme');
  if (url.username !== '' || url.password !== '') return faultOf('url', 'url_credentials');
  if (url.hostname === '') return faultOf('url', 'url_without_host');
  if (url.href.length > URL_LENGTH_MAX) return faultOf('url', 'url_long', { n: URL_LENGTH_MAX });
  if (!allowPlain && isPlainHttp(text)) return faultOf('url', 'url_plain');
  // URL normalizes hex, decimal and short forms of an IP address
  const host = url.hostname === 'localhost' ? '127.0.0.1' : url.hostname.replace(/^\[|\]$/g, '');
  const where = ipaddr.isValid(host) ? validateAddress(host, allowPrivate) : undefined;
  if (where === undefined) return undefined;
  // no setting opens metadata services
  const isPrivate = validateAddress(host, true) === undefined;
  return isPrivate ? faultOf('url', 'url_private', { where }) : faultOf('url', 'url_forbidden', { where });
}
