import type { CustomFetch } from 'openid-client';
import type { Context } from '../context.ts';
import { createIssuerFetch } from './guard-fetch.ts';
import { discover, ISSUER_LIMITS, readOidcSettings } from './open-issuer.ts';

/**
 * Asks the issuer for its addresses, and compares its clock with this machine's: the times of ID tokens are compared by it.
 * @returns what was found. @throws Error that says what to do.
 */
export async function checkIssuer(context: Pick<Context, 'config' | 'timers' | 'signal'>): Promise<string> {
  const settings = readOidcSettings(context.config);
  if (!settings) return 'OIDC_ISSUER is not set: people log in by tokens';
  const fetch = createIssuerFetch(settings.issuer, context.signal);
  let date: string | null = null;
  const watched: CustomFetch = async (...request) => {
    const response = await fetch(...request);
    date = response.headers.get('date');
    return response;
  };
  const found = await discover(settings, watched);
  const offsetMs = Math.round(context.timers.now() - Date.parse(date ?? ''));
  if (Math.abs(offsetMs) > ISSUER_LIMITS.clockToleranceMs) {
    throw new Error(
      `this machine's clock is ${offsetMs} ms away from the issuer's: ID tokens would be refused; use NTP`,
    );
  }
  const { host } = settings.issuer;
  const clock = Number.isNaN(offsetMs) ? 'it states no time' : `${offsetMs} ms between its clock and this machine's`;
  const logout = found.serverMetadata().end_session_endpoint === undefined ? ', without a page to log out' : '';
  return `${host} answers${logout}; ${clock}; it must know ${settings.redirectUri}`;
}
