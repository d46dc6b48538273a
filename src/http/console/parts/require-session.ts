import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { findSession, SESSION_MS } from '../../../access/sessions.ts';
import type { Context } from '../../../context.ts';
import { ConfereError } from '../../../domain/errors.ts';
import type { AuthGuard } from '../../access/guard-auth-attempts.ts';
import { markAuthenticated } from '../../connections/mark-authenticated.ts';
import { readUpload } from '../../read-upload.ts';
import { language } from '../languages/language.ts';
import { html } from './html.ts';
import { removePersonalFilters } from './parse-filters.ts';

/**
 * Requires a session: a cookie that scripts cannot read and other sites cannot send. A posted form also carries a token
 * derived from the cookie, and its Origin must be ours. Each of the three would suffice in a browser without defects.
 */
export function requireSession(context: Context, guard: AuthGuard): RequestHandler {
  return async (request, response, next) => {
    const session = readSessionCookie(context, request);
    const attempt = { kind: 'session', address: request.ip, credential: session ?? '' } as const;
    const caller = session && (await guard.admit(attempt, () => findSession(context, session)));
    if (!session || !caller) {
      redirectToLogin(request, response);
      return;
    }
    response.locals.caller = caller;
    markAuthenticated(response);
    response.locals.formToken = formTokenOf(session);
    if (request.method === 'POST') {
      checkOrigin(context, request);
      await readUpload(request, response);
      checkFormToken(request, session);
    }
    next();
  };
}

export function readSessionCookie(context: Context, request: Request): string | undefined {
  return readCookie(request, cookieName(context));
}

export function readCookie(request: Request, name: string): string | undefined {
  const wanted = `${name}=`;
  const pair = (request.headers.cookie ?? '').split(/; */).find((one) => one.startsWith(wanted));
  return pair?.slice(wanted.length) || undefined;
}

export function setSessionCookie(context: Context, response: Response, session: string): void {
  response.cookie(cookieName(context), session, { ...cookieOptions(context), maxAge: SESSION_MS });
}

export function clearSessionCookie(context: Context, response: Response): void {
  response.clearCookie(cookieName(context), cookieOptions(context));
}

/** @throws ConfereError `forbidden` when a form was sent from another site's page. */
export function checkOrigin(context: Context, request: Request): void {
  const site = request.headers['sec-fetch-site'];
  const { origin } = request.headers;
  const own = origin === undefined ? site === 'same-origin' : isOwnOrigin(context, request, origin);
  if (!own || (site !== undefined && site !== 'same-origin' && site !== 'none')) {
    throw new ConfereError('forbidden', 'this form was not sent from a page of this console');
  }
}

function isOwnOrigin(context: Context, request: Request, origin: string): boolean {
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
    throw new ConfereError('forbidden', 'this form belongs to another session: open the page again');
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
  const next =
    request.method === 'GET' && request.originalUrl !== '/' ? removePersonalFilters(request.originalUrl) : undefined;
  response.redirect(303, next === undefined ? '/login' : `/login?next=${encodeURIComponent(next)}`);
}

function cookieName(context: Context): string {
  return isHttps(context) ? '__Host-confere_session' : 'confere_session';
}

function cookieOptions(context: Context) {
  return { httpOnly: true, sameSite: 'strict', secure: isHttps(context), path: '/' } as const;
}

export function isHttps(context: Context): boolean {
  return context.config.PUBLIC_URL.startsWith('https:');
}
