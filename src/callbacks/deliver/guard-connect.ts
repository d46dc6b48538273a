import dns from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';
import { validateAddress } from '../../merchants/validate-address.ts';

const CONNECT_TIMEOUT_MS = 10_000;

/** A callback would have gone where callbacks must not go. */
export class ForbiddenAddressError extends Error {
  readonly code = 'FORBIDDEN_ADDRESS';

  constructor(reason: string) {
    super(`the address leads to ${reason}`);
    this.name = 'ForbiddenAddress';
  }
}

/**
 * Connects only to addresses that are allowed. A look-up hook alone would be no guard: it is skipped for an address that
 * stands in the URL. So literals are judged before connecting, names by every address that they resolve to (and the
 * socket is given just the allowed ones, which leaves a second look-up nothing to change), and the peer once connected.
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

/** A socket's look-up that gives it only the addresses that are allowed. */
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

/** Every address of a name, asked anew each time: a name may lead elsewhere by then. */
export type ResolveHost = (hostname: string, options: { all: true }, onResolved: OnResolved) => void;
type OnResolved = (error: NodeJS.ErrnoException | null, addresses: dns.LookupAddress[]) => void;

/**
 * Looks each name up once at a time: a look-up occupies one of libuv's few threads, and a merchant whose name server
 * hangs would take them all with its places.
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
