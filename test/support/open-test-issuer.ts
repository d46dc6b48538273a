import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

export const CLIENT = { OIDC_CLIENT_ID: 'confere', OIDC_CLIENT_SECRET: 'a-secret-of-the-client-0123456789' };

type Json = Record<string, unknown>;
/** A token in parts, before it is signed. `forged`: what is added to the payload afterwards. */
export type TokenParts = { header: Json; payload: Json; forged?: Json };
export type Account = { name?: string; groups?: unknown; [claim: string]: unknown };

export type TestIssuer = AsyncDisposable & {
  url: string;
  /** Who may log in, by the name that they type; the password is not checked. */
  accounts: Record<string, Account>;
  /** Changes the next ID tokens before they are signed again. Header `alg` none: they are not signed. */
  alterIdToken: ((parts: TokenParts) => TokenParts) | undefined;
  /** Paths that were asked, the newest last. */
  asked: string[];
  /** Stops listening; `listen` begins again at the same address. */
  close(): Promise<void>;
  listen(): Promise<void>;
};

/**
 * Opens a real issuer, `oidc-provider`, with its own pages for login, consent and logout. It is at `localhost`, so a browser takes
 * it for another site than a console at 127.0.0.1.
 * @param consoleUrl of the console that it sends people back to. @param more further settings of oidc-provider.
 */
export async function openTestIssuer(consoleUrl: string, more: Json = {}): Promise<TestIssuer> {
  const server = createServer();
  const listen = async (port: number): Promise<void> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const issuer: TestIssuer = {
    url: `http://localhost:${port}`,
    accounts: {},
    alterIdToken: undefined,
    asked: [],
    listen: () => listen(port),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
    async [Symbol.asyncDispose]() {
      if (server.listening) await issuer.close();
    },
  };
  const provider = withoutWarnings(
    () => new Provider(issuer.url, { ...settingsOf(issuer, consoleUrl, privateKey), ...more }),
  );
  provider.use(async (context, next) => {
    issuer.asked.push(context.path);
    if (context.path === '/favicon.ico') {
      context.status = 204;
      return;
    }
    await next();
    // its pages load a font from another host
    if (typeof context.body === 'string') context.body = context.body.replace(/@import url\([^)]*\);/, '');
    const body = context.body as { id_token?: unknown } | undefined;
    if (issuer.alterIdToken && typeof body?.id_token === 'string') {
      body.id_token = forge(body.id_token, issuer.alterIdToken, privateKey);
    }
  });
  const answer = provider.callback();
  server.on('request', (request, response) => void answer(request, response));
  return issuer;
}

function settingsOf(issuer: TestIssuer, consoleUrl: string, privateKey: KeyObject) {
  const jwk = { ...privateKey.export({ format: 'jwk' }), kid: 'test', use: 'sig', alg: 'RS256' };
  return {
    clients: [
      {
        client_id: CLIENT.OIDC_CLIENT_ID,
        client_secret: CLIENT.OIDC_CLIENT_SECRET,
        redirect_uris: [`${consoleUrl}/login/oidc/callback`],
        post_logout_redirect_uris: [`${consoleUrl}/login`],
      },
    ],
    jwks: { keys: [jwk] },
    cookies: { keys: [createHash('sha256').update(issuer.url).digest('hex')] },
    claims: { openid: ['sub'], profile: ['name'], groups: ['groups'], email: ['email', 'email_verified'] },
    pkce: { required: () => true },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ ...issuer.accounts[id], sub: id }),
    }),
    features: { devInteractions: { enabled: true }, rpInitiatedLogout: { enabled: true, logoutSource: showLogout } },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
  };
}

/** Asks, as its own page does. */
function showLogout(context: { body: unknown }, form: string): void {
  context.body = `<!doctype html><title>Logout</title>${form}
<button type="submit" form="op.logoutForm" value="yes" name="logout">Yes, sign me out</button>`;
}

/** It warns that its pages and its store are for development: that is what they are here. */
function withoutWarnings<T>(open: () => T): T {
  const { warn } = console;
  console.warn = () => undefined;
  try {
    return open();
  } finally {
    console.warn = warn;
  }
}

function forge(token: string, alter: NonNullable<TestIssuer['alterIdToken']>, key: KeyObject): string {
  const [header = '', payload = ''] = token.split('.');
  const altered = alter({ header: decode(header), payload: decode(payload) });
  const textOf = (body: Json): string => [altered.header, body].map((part) => encode(JSON.stringify(part))).join('.');
  const signed = sign('sha256', Buffer.from(textOf(altered.payload)), key).toString('base64url');
  return `${textOf({ ...altered.payload, ...altered.forged })}.${altered.header.alg === 'none' ? '' : signed}`;
}

function decode(part: string): Json {
  return JSON.parse(Buffer.from(part, 'base64url').toString()) as Json;
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url');
}
