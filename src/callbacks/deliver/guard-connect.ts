import dns from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';
import { validateAddress } from '../../merchants/validate-address.ts';

const CONNECT_TIMEOUT_MS = 10_000;

/** A callback's host is, or resolves to, an address that callbacks must not connect to. */
export class ForbiddenAddressError extends Error {
  readonly code = 'FORBIDDEN_ADDRESS';

  constructor(reason: string) {
    super(`the address leads to ${reason}`);
    this.name = 'ForbiddenAddress';
  }
}

/**
 * Returns a connector that connects only to allowed addresses. A lookup hook alone is no guard: it is skipped for an IP
 * literal in the URL. So three checks are made: literals before connecting; each address that a name resolves to, of which
 * the socket gets only the allowed ones, so that a second lookup can change nothing; and the peer once connected.
 */
export function createConnector(allowPrivate: boolean, resolve: ResolveHost = dns.lookup): buildConnector.connector {
  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    allowH2: false,
    lookup: createLookup(allowPrivate, resolve),
    autoSelectFamily: true,
  } as buildConnector.BuildOptions);
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    const refusal = ipaddr.isValid(host) ? validateAddress(host, allowPrivate) : undefined;
    if (refusal) {
      callback(new ForbiddenAddressError(refusal), null);
      return;
    }
    connect(options, (...[error, socket]) => {
      if (error) return callback(error, null);
      const peer = refusePeer(socket, allowPrivate);
      if (!peer) return callback(null, socket);
      socket.destroy();
      callback(new ForbiddenAddressError(peer), null);
    });
  };
}

function refusePeer(socket: Socket, allowPrivate: boolean): string | undefined {
  return socket.remoteAddress === undefined ? undefined : validateAddress(socket.remoteAddress, allowPrivate);
}

/** A lookup function that gives the socket only the allowed addresses. */
function createLookup(allowPrivate: boolean, resolve: ResolveHost): LookupFunction {
  const resolveOnce = createResolver(resolve);
  return (hostname, options, callback) => {
    resolveOnce(hostname, (error, addresses) => {
      if (error) return callback(error, []);
      const allowed = addresses.filter(({ address }) => validateAddress(address, allowPrivate) === undefined);
      const [first] = allowed;
      if (!first) {
        const reason = addresses[0] ? validateAddress(addresses[0].address, allowPrivate) : undefined;
        return callback(new ForbiddenAddressError(reason ?? 'no address'), []);
      }
      if (options.all) return callback(null, allowed);
      callback(null, first.address, first.family);
    });
  };
}

/** Resolves a name to all its addresses. Results are not cached: a name may point elsewhere at the next attempt. */
export type ResolveHost = (hostname: string, options: { all: true }, onResolved: OnResolved) => void;
type OnResolved = (error: NodeJS.ErrnoException | null, addresses: dns.LookupAddress[]) => void;

/**
 * Joins concurrent lookups of one name: a lookup occupies one of libuv's few threads, and a merchant whose name server
 * hangs would occupy all of them.
 */
function createResolver(resolve: ResolveHost): (hostname: string, onResolved: OnResolved) => void {
  const asked = new Map<string, OnResolved[]>();
  return (hostname, onResolved) => {
    const waiting = asked.get(hostname);
    if (waiting) {
      waiting.push(onResolved);
      return;
    }
    const all = [onResolved];
    asked.set(hostname, all);
    resolve(hostname, { all: true }, (error, addresses) => {
      asked.delete(hostname);
      for (const one of all) one(error, addresses);
    });
  };
}
