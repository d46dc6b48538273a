import type { CustomFetch } from 'openid-client';
import type { Context } from '../context.ts';
import type { Message } from '../domain/errors.ts';
import { failure, message } from '../texts/messages.ts';
import { createIssuerFetch } from './guard-fetch.ts';
import { discover, ISSUER_LIMITS, readOidcSettings } from './open-issuer.ts';

/**
 * Asks the issuer for its addresses, and compares its clock with this machine's: the times of ID tokens are compared by it.
 * @returns what was found. @throws ConfereError that says what to do.
 */
export async function checkIssuer(context: Pick<Context, 'config' | 'timers' | 'signal'>): Promise<Message[]> {
  const settings = readOidcSettings(context.config);
  if (!settings) return [message('doctor.issuer_unset')];
  const fetch = createIssuerFetch(settings.issuer, context.signal);
  let date: string | null = null;
  const watched: CustomFetch = async (...request) => {
    const response = await fetch(...request);
    date = response.headers.get('date');
    return response;
  };
  const found = await discover(settings, watched);
  const n = Math.round(context.timers.now() - Date.parse(date ?? ''));
  if (Math.abs(n) > ISSUER_LIMITS.clockToleranceMs) throw failure('conflict', message('doctor.issuer_clock', { n }));
  const { host } = settings.issuer;
  const canLogOut = found.serverMetadata().end_session_endpoint !== undefined;
  return [
    message(canLogOut ? 'doctor.issuer' : 'doctor.issuer_without_logout', { host }),
    Number.isNaN(n) ? message('doctor.issuer_timeless') : message('doctor.issuer_time', { n }),
    message('doctor.issuer_address', { url: settings.redirectUri }),
  ];
}
