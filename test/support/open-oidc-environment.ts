import { findFreePort } from '../../demo/start-programs.ts';
import { serveHttp } from '../../src/http/connections/serve-http.ts';
import { createApp } from '../../src/http/create-app.ts';
import { openEnvironment, TEST_HTTP_LIMITS, type TestEnvironment } from './open-environment.ts';
import { CLIENT, openTestIssuer, type TestIssuer } from './open-test-issuer.ts';
import type { Visit, Visitor } from './open-visitor.ts';

export type OidcEnvironment = TestEnvironment & {
  url: string;
  issuer: TestIssuer;
  callback: string;
  /** Goes from the console's login to the issuer, types a name there and consents. @returns the address of the way back. */
  comeBack(visitor: Visitor, name: string, next?: string): Promise<Visit>;
};

export const PEOPLE = {
  ana: { name: 'Ana Souza', groups: ['finance'] },
  bruno: { name: 'Bruno Lima', groups: ['sre', 'finance', 'football'] },
  carla: { name: 'Carla Dias', groups: ['sre', 'admins'] },
  davi: { name: 'Davi Reis', groups: ['football'] },
};

/** Opens the web side with a real issuer, on an empty ledger. @param issuerSettings further settings of oidc-provider. */
export async function openOidcEnvironment(
  env: Record<string, string> = {},
  options: { logTo?: NodeJS.WritableStream; issuerSettings?: Record<string, unknown> } = {},
): Promise<OidcEnvironment> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const issuer = await openTestIssuer(url, options.issuerSettings);
  issuer.accounts = { ...PEOPLE };
  const environment = await openEnvironment(
    {
      ...{ PORT: String(port), PUBLIC_URL: url, OIDC_ISSUER: issuer.url, ...CLIENT },
      ...{ OIDC_SCOPES: 'openid profile groups', OIDC_ROLES: 'finance=accountant, sre=operator, admins=admin' },
      ...env,
    },
    undefined,
    options.logTo,
  );
  environment.use(issuer);
  environment.use(await serveHttp(environment.context, createApp(environment.context), TEST_HTTP_LIMITS));
  const callback = `${url}/login/oidc/callback`;
  return {
    ...environment,
    url,
    issuer,
    callback,
    async comeBack(visitor, name, next = '/') {
      const begun = await visitor.visit(`${url}/login/oidc?next=${encodeURIComponent(next)}`);
      const consent = await visitor.submit(begun, { login: name, password: 'any' }, { until: callback });
      return consent.url.startsWith(callback) ? consent : await visitor.submit(consent, {}, { until: callback });
    },
  };
}
