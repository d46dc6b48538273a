import type { CustomFetch } from 'openid-client';
import { Agent, type buildConnector, type RequestInit, fetch as send } from 'undici';
import { createConnector } from '../callbacks/deliver/guard-connect.ts';
import { isLoopbackName } from '../config/fields.ts';
import { LoginError } from './describe-login-failure.ts';

const CONNECTIONS_MAX = 8;
/** A discovery document or a set of keys takes some 10 KB. */
const ANSWER_BYTES_MAX = 1024 * 1024;

/**
 * Whether a request, or a browser, may be sent to an address that the issuer named: https, or http on this machine if the
 * issuer itself is there.
 */
export function isAllowedAddress(issuer: URL, address: URL): boolean {
  if (address.protocol === 'https:') return true;
  return address.protocol === 'http:' && isLoopbackName(address.hostname) && issuer.protocol === 'http:';
}

/**
 * Creates the `fetch` for requests to the issuer. The issuer's own host may have a private address, since the operator named
 * it. Other hosts are named by its discovery document alone: they must have public addresses. Metadata services and
 * link-local addresses are always refused. Redirects are not followed. No connection stays open.
 * @param stop ends requests that are under way.
 */
export function createIssuerFetch(issuer: URL, stop: AbortSignal): CustomFetch {
  const dispatcher = new Agent({
    connections: CONNECTIONS_MAX,
    connect: createIssuerConnector(issuer),
    pipelining: 0,
    maxResponseSize: ANSWER_BYTES_MAX,
  });
  return async (url, { signal, ...options }) => {
    if (!isAllowedAddress(issuer, new URL(url))) {
      throw new LoginError('misconfigured', 'plain_http', 'the issuer names an address that is not https');
    }
    const init = {
      ...options,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, stop]) : stop,
      dispatcher,
    } as RequestInit;
    // undici's Response is that of the machine's fetch
    return (await send(url, init)) as unknown as Response;
  };
}

function createIssuerConnector(issuer: URL): buildConnector.connector {
  const [own, other] = [createConnector(true), createConnector(false)];
  return (options, callback) => {
    const isOwn = bareHost(options.hostname) === bareHost(issuer.hostname);
    (isOwn ? own : other)(options, callback);
  };
}

function bareHost(host: string): string {
  return host.replace(/^\[|\]$/g, '').toLowerCase();
}
