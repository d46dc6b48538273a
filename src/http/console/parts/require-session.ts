import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { findSession, SESSION_MS } from '../../../access/sessions.ts';
import type { Context } from '../../../context.ts';
import { language } from '../../../texts/language.ts';
import { refuse } from '../../../texts/refuse.ts';
import type { AuthGuard } from '../../access/guard-auth-attempts.ts';
import { markAuthenticated } from '../../connections/mark-authenticated.ts';
import { readUpload } from '../../read-upload.ts';
import { html } from './html.ts';
import { removePersonalFilters } from './parse-filters.ts';

type Configured = Pick<Context, 'config'>;

/**
 * Requires a session: a cookie that scripts cannot read and other sites cannot send. A posted form also carries a token
 * derived from the cookie, and its Origin must be ours. Each of the three would suffice in a browser without defects.
 */
export function requireSession(context: Context, guard: AuthGuard): RequestHandler {
  return requireLogin(context, guard, findSession, (response, caller) => {
    response.locals.caller = caller;
    markAuthenticated(response);
  });
}

/**
 * Requires a session of the area that the request's address is in.
 * @param find returns what a session's cookie opens. @param keep keeps it for the handlers of the request.
 */
export function requireLogin<Found>(
  context: Context,
  guard: AuthGuard,
  find: (context: Context, session: string, isActive: boolean) => Promise<Found | undefined>,
  keep: (response: Response, found: Found) => void,
): RequestHandler {
  return async (request, response, next) => {
    const session = readSessionCookie(context, request);
    const attempt = { kind: 'session', address: request.ip, credential: session ?? '' } as const;
    // a live page refreshes itself by fetch
    const isActive = request.headers['sec-fetch-dest'] !== 'empty';
    const found =
      session === undefined ? undefined : await guard.admit(attempt, () => find(context, session, isActive));
    if (session === undefined || found === undefined) {
      redirectToLogin(request, response);
      return;
    }
    keep(response, found);
    response.locals.formToken = formTokenOf(session);
    if (request.method === 'POST') {
      checkOrigin(context, request);
      await readUpload(request, response);
      checkFormToken(request, session);
    }
    next();
  };
}

export function readSessionCookie(context: Configured, request: Request): string | undefined {
  return readCookie(request, cookieName(context, request));
}

export function readCookie(request: Request, name: string): string | undefined {
  const wanted = `${name}=`;
  const pair = (request.headers.cookie ?? '').split(/; */).find((one) => one.startsWith(wanted));
  return pair?.slice(wanted.length) || undefined;
}

export function setSessionCookie(context: Configured, response: Response, session: string): void {
  response.cookie(cookieName(context, response.req), session, { ...cookieOptions(context), maxAge: SESSION_MS });
}

export function clearSessionCookie(context: Configured, response: Response): void {
  response.clearCookie(cookieName(context, response.req), cookieOptions(context));
}

/** @throws ConfereError `forbidden` when a form was sent from another site's page. */
export function checkOrigin(context: Configured, request: Request): void {
  const site = request.headers['sec-fetch-site'];
  const { origin } = request.headers;
  const own = origin === undefined ? site === 'same-origin' : isOwnOrigin(context, request, origin);
  if (!own || (site !== undefined && site !== 'same-origin' && site !== 'none')) {
    throw refuse('form_foreign');
  }
}

function isOwnOrigin(context: Configured, request: Request, origin: string): boolean {
  if (origin === new URL(context.config.PUBLIC_URL).origin) return true;
  // behind a proxy our scheme may differ from the browser's, so only the hosts are compared
  return URL.canParse(origin) && new URL(origin).host === request.headers.host;
}

function checkFormToken(request: Request, session: string): void {
  const given = (request.body as { form_token?: unknown } | undefined)?.form_token;
  const [expected, actual] = [formTokenOf(session), typeof given === 'string' ? given : ''].map((text) =>
    createHmac('sha256', session).update(text).digest(),
  );
  if (!expected || !actual || !timingSafeEqual(expected, actual)) {
    throw refuse('form_of_other_session');
  }
}

function formTokenOf(session: string): string {
  return createHmac('sha256', session).update('confere form').digest('base64url');
}

/**
 * Redirects to the login. A link in an alert is followed without the cookie, because another site started the request.
 * The first answer to such a request is a page of ours that loads the address again, then with the cookie.
 */
function redirectToLogin(request: Request, response: Response): void {
  if (request.method === 'GET' && request.headers['sec-fetch-site'] === 'cross-site') {
    const page = html`<!doctype html><html lang="${language()}"><head><meta charset="utf-8"><title>Confere</title>
<meta http-equiv="refresh" content="0"></head><body></body></html>`;
    response.type('html').send(page.text);
    return;
  }
  const { home, login } = areaOf(request);
  const next =
    request.method === 'GET' && request.originalUrl !== home ? removePersonalFilters(request.originalUrl) : undefined;
  response.redirect(303, next === undefined ? login : `${login}?next=${encodeURIComponent(next)}`);
}

/** The console and the portal have logins of their own: the cookie of one is never read in the other. */
const CONSOLE = { home: '/', login: '/login', cookie: 'confere_session' } as const;
const PORTAL = { home: '/portal', login: '/portal/login', cookie: 'confere_portal' } as const;

function areaOf({ originalUrl }: Request): typeof CONSOLE | typeof PORTAL {
  return /^\/portal(?:[/?]|$)/.test(originalUrl) ? PORTAL : CONSOLE;
}

function cookieName(context: Configured, request: Request): string {
  const { cookie } = areaOf(request);
  return isHttps(context) ? `__Host-${cookie}` : cookie;
}

function cookieOptions(context: Configured) {
  return { httpOnly: true, sameSite: 'strict', secure: isHttps(context), path: '/' } as const;
}

export function isHttps(context: Configured): boolean {
  return context.config.PUBLIC_URL.startsWith('https:');
}
