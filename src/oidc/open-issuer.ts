/**
 * The company's account: the issuer that people log in by. `begin` gives the address for the browser, `redeem` the person who
 * came back. The caller keeps the checks of an attempt with the browser that began it, so that no other browser can end it.
 */
import type { ClientAuth, Configuration, CustomFetch } from 'openid-client';
import { issuerName } from '../access/users.ts';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import { describeLoginFailure, LoginError } from './describe-login-failure.ts';
import { createIssuerFetch, isAllowedAddress } from './guard-fetch.ts';
import { type KnownPerson, lacksClaims, readPerson } from './read-person.ts';

export const ISSUER_LIMITS = {
  /** Time limit of each request to the issuer. */
  requestMs: 5_000,
  /** How long its addresses are used before they are read again. */
  metadataMs: 3_600_000,
  /** After a failure the issuer is not asked again for this long. */
  retryMs: 30_000,
  /** Difference of clocks that the times of an ID token may have. */
  clockToleranceMs: 30_000,
};

/** The configuration of the login, complete. */
export type OidcSettings = NonNullable<ReturnType<typeof readOidcSettings>>;

/** Checks for the issuer's answer. It is secret: with it, anybody could end the attempt. */
export type LoginChecks = { state: string; nonce: string; verifier: string };

export type Issuer = {
  settings: OidcSettings;
  /** @throws LoginError `unavailable` if the issuer can't be asked for its addresses. */
  begin(): Promise<{ url: URL; checks: LoginChecks }>;
  /**
   * Redeems the code of an answer. @param query of the address that the browser came back to, with its `?`.
   * @throws LoginError
   */
  redeem(query: string, checks: LoginChecks): Promise<KnownPerson>;
  /** @returns where the person ends the session at the issuer; undefined if it has no such page, or can't be asked. */
  findLogout(): Promise<URL | undefined>;
};

/** @returns undefined if no issuer is configured. */
export function readOidcSettings(config: Config) {
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_ROLES } = config;
  if (OIDC_ISSUER === undefined || OIDC_CLIENT_ID === undefined || OIDC_ROLES === undefined) return undefined;
  return {
    issuer: new URL(OIDC_ISSUER),
    clientId: OIDC_CLIENT_ID,
    clientSecret: config.OIDC_CLIENT_SECRET,
    scopes: config.OIDC_SCOPES,
    names: { groups: config.OIDC_GROUPS_CLAIM, name: config.OIDC_NAME_CLAIM },
    rules: OIDC_ROLES,
    redirectUri: new URL(`${config.PUBLIC_URL}/login/oidc/callback`).href,
    // the page that the issuer sends people to after a logout
    afterLogout: new URL(`${config.PUBLIC_URL}/login`).href,
  };
}

/** Opens the issuer of the configuration, without asking it. @returns undefined if none is configured. */
export function openIssuer(
  context: Pick<Context, 'config' | 'timers' | 'signal' | 'log'>,
  limits: { requestMs: number } = ISSUER_LIMITS,
): Issuer | undefined {
  const settings = readOidcSettings(context.config);
  if (!settings) return undefined;
  const fetch = createIssuerFetch(settings.issuer, context.signal);
  const find = rememberMetadata(context, () => discover(settings, fetch, limits));
  return {
    settings,
    begin: () => classified(async () => begin(await find(), settings)),
    redeem: (query, checks) => classified(async () => redeem(await find(), settings, query, checks)),
    findLogout: async () => await findLogout(settings, find).catch(() => undefined),
  };
}

async function classified<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw describeLoginFailure(error);
  }
}

/**
 * Reads the issuer's addresses.
 * @throws LoginError `unavailable`, `misconfigured`.
 */
export async function discover(
  settings: OidcSettings,
  fetch: CustomFetch,
  limits: { requestMs: number } = ISSUER_LIMITS,
): Promise<Configuration> {
  const { issuer, clientId } = settings;
  const client = await import('openid-client');
  const tolerance = { [client.clockTolerance]: ISSUER_LIMITS.clockToleranceMs / 1000 };
  const found = await client
    .discovery(issuer, clientId, tolerance, authenticateBy(client, settings), {
      [client.customFetch]: fetch,
      timeout: limits.requestMs / 1000,
      execute: [
        // TLS alone proves the sender of an ID token; this check also rejects a token that was changed on the way
        client.enableNonRepudiationChecks,
        // the configuration allows http on this machine alone, and so does `fetch`
        ...(issuer.protocol === 'http:' ? [client.allowInsecureRequests] : []),
      ],
    })
    .catch((error: unknown) => {
      throw describeDiscovery(error);
    });
  const { issuer: name, authorization_endpoint: login, token_endpoint: tokens } = found.serverMetadata();
  // openid-client accepts each tenant of Entra ID behind an address for several of them
  if (issuerName(name) !== issuer.href) throw new LoginError('misconfigured', ...OTHER_ISSUER);
  if (login === undefined || tokens === undefined || !isAllowedAddress(issuer, new URL(login))) {
    throw new LoginError('misconfigured', 'endpoints', 'the issuer names no addresses for the login, or none by https');
  }
  return found;
}

const OTHER_ISSUER = [
  'other_issuer',
  'the issuer names itself by another address than OIDC_ISSUER: set it to that',
] as const;

function describeDiscovery(error: unknown): LoginError {
  const { reason, code, message } = describeLoginFailure(error);
  if (code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED') return new LoginError('misconfigured', ...OTHER_ISSUER, error);
  return new LoginError(reason === 'misconfigured' ? reason : 'unavailable', code, message, error);
}

/** Basic is the standard's default. An issuer that does not list it gets the secret in the body. */
function authenticateBy(client: typeof import('openid-client'), { clientSecret }: OidcSettings): ClientAuth {
  if (clientSecret === undefined) return client.None();
  const [basic, post] = [client.ClientSecretBasic(clientSecret), client.ClientSecretPost(clientSecret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
}

/** Caches the discovered addresses. Concurrent callers share one request. A failed renewal keeps the known addresses. */
function rememberMetadata({ timers, log }: Pick<Context, 'timers' | 'log'>, ask: () => Promise<Configuration>) {
  let known: { found: Configuration; atMs: number } | undefined;
  let failed: { error: unknown; atMs: number } | undefined;
  let asking: Promise<Configuration> | undefined;
  const renew = async (): Promise<Configuration> => {
    try {
      const found = await ask();
      [known, failed] = [{ found, atMs: timers.monotonicMs() }, undefined];
      return found;
    } catch (error) {
      failed = { error, atMs: timers.monotonicMs() };
      const { reason, code } = describeLoginFailure(error);
      log.error(
        { reason, code, retry_s: ISSUER_LIMITS.retryMs / 1000 },
        'the issuer of the company account was not read',
      );
      if (known) return known.found;
      throw error;
    } finally {
      asking = undefined;
    }
  };
  return async (): Promise<Configuration> => {
    const now = timers.monotonicMs();
    if (known && now - known.atMs < ISSUER_LIMITS.metadataMs) return known.found;
    if (failed && now - failed.atMs < ISSUER_LIMITS.retryMs) {
      if (known) return known.found;
      throw failed.error;
    }
    asking ??= renew();
    return await asking;
  };
}

async function begin(found: Configuration, settings: OidcSettings): Promise<{ url: URL; checks: LoginChecks }> {
  const client = await import('openid-client');
  const checks = {
    state: client.randomState(),
    nonce: client.randomNonce(),
    verifier: client.randomPKCECodeVerifier(),
  };
  const url = client.buildAuthorizationUrl(found, {
    redirect_uri: settings.redirectUri,
    scope: settings.scopes.join(' '),
    state: checks.state,
    nonce: checks.nonce,
    code_challenge: await client.calculatePKCECodeChallenge(checks.verifier),
    code_challenge_method: 'S256',
  });
  return { url, checks };
}

async function redeem(
  found: Configuration,
  settings: OidcSettings,
  query: string,
  checks: LoginChecks,
): Promise<KnownPerson> {
  const client = await import('openid-client');
  const { names, rules } = settings;
  const answer = new URL(settings.redirectUri);
  answer.search = query;
  const tokens = await client.authorizationCodeGrant(found, answer, {
    expectedState: checks.state,
    expectedNonce: checks.nonce,
    pkceCodeVerifier: checks.verifier,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  if (!claims) throw new LoginError('refused', 'no_id_token', 'the issuer gave no ID token');
  const canAskMore = found.serverMetadata().userinfo_endpoint !== undefined && lacksClaims(claims, names);
  const more = canAskMore ? await client.fetchUserInfo(found, tokens.access_token, claims.sub) : {};
  const person = readPerson({ ...more, ...claims }, { issuer: settings.issuer.href, names, rules });
  if (!person) throw new LoginError('refused', 'subject', 'the subject is longer than 255 characters');
  return person;
}

async function findLogout(settings: OidcSettings, find: () => Promise<Configuration>): Promise<URL | undefined> {
  const found = await find();
  if (found.serverMetadata().end_session_endpoint === undefined) return undefined;
  const client = await import('openid-client');
  // client_id, which openid-client adds, names Confere: no ID token is stored for it
  const url = client.buildEndSessionUrl(found, { post_logout_redirect_uri: settings.afterLogout });
  return isAllowedAddress(settings.issuer, url) ? url : undefined;
}
