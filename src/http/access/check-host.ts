import type { RequestHandler } from 'express';
import ipaddr from 'ipaddr.js';
import type { Config } from '../../config.ts';
import { refuse } from '../../texts/refuse.ts';

/** The provider knows one address: near misses of it are answered as without a name of ours. */
const WEBHOOKS = /^\/{1,2}webhooks\//i;
/** HOST where the service listens on all addresses of its machine. */
const ANY_ADDRESS = new Set(['0.0.0.0', '::']);

/**
 * Refuses requests whose Host is not ours: PUBLIC_URL's, HOST or loopback. A page of another name that resolves to our
 * address (DNS rebinding) would be of our origin to a browser inside the network. Ports are not compared: proxies change them.
 * @throws ConfereError `misdirected`.
 */
export function checkHost({ PUBLIC_URL, HOST }: Pick<Config, 'PUBLIC_URL' | 'HOST'>): RequestHandler {
  const own = new Set(['localhost', HOST.toLowerCase(), new URL(PUBLIC_URL).hostname.replace(/^\[(.*)\]$/, '$1')]);
  return (request, _response, next) => {
    const name = readHostName(request.headers.host ?? '');
    const address = ipaddr.isValid(name) ? ipaddr.process(name) : undefined;
    // an address is no name that somebody could have resolve to ours
    const isOwnAddress = address !== undefined && (address.range() === 'loopback' || ANY_ADDRESS.has(HOST));
    if (!own.has(name) && !isOwnAddress && !WEBHOOKS.test(request.path)) throw refuse('host_unknown');
    next();
  };
}

/** The name or the address of a Host header, in lower case, without port and brackets; empty where it has none. */
function readHostName(host: string): string {
  if (!URL.canParse(`http://${host}`)) return '';
  const { hostname, pathname, username } = new URL(`http://${host}`);
  return pathname === '/' && username === '' ? hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '') : '';
}
