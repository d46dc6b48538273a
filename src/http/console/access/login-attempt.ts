import type { Request, Response } from 'express';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { Place } from '../../../database/keys/vault.ts';
import { isHttps, readCookie } from '../parts/require-session.ts';

/** Time for a login at the issuer, second factor included. */
const ATTEMPT_MS = 10 * 60_000;
/** A cookie has room for 4,096 bytes. */
const NEXT_CHARS_MAX = 1_000;

const attempt = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** The path of this console that the person wanted. */
  next: z.string(),
  /** The hash of the session that the browser had, in hex: the issuer's answer comes without its cookie. */
  earlier: z.string().optional(),
  expiresAt: z.number(),
});
export type LoginAttempt = z.infer<typeof attempt>;

/**
 * Keeps an attempt with the browser that began it, encrypted, in a cookie that scripts can't read. SameSite=Lax: the browser
 * sends it when the issuer sends the person back, which another site's form or picture can't cause.
 */
export function setLoginAttempt(context: Context, response: Response, begun: Omit<LoginAttempt, 'expiresAt'>): void {
  const next = begun.next.length > NEXT_CHARS_MAX ? '/' : begun.next;
  const kept: LoginAttempt = { ...begun, next, expiresAt: context.clock.now().getTime() + ATTEMPT_MS };
  const sealed = context.vault.encrypt(Buffer.from(JSON.stringify(kept)), placeOf(context)).toString('base64url');
  response.cookie(cookieName(context), sealed, { ...cookieOptions(context), maxAge: ATTEMPT_MS });
}

/** Reads this browser's attempt, and ends it: it can be tried once. @returns undefined without one that is still valid. */
export function takeLoginAttempt(context: Context, request: Request, response: Response): LoginAttempt | undefined {
  const sealed = readCookie(request, cookieName(context));
  if (sealed === undefined) return undefined;
  response.clearCookie(cookieName(context), cookieOptions(context));
  try {
    const opened = context.vault.decrypt(Buffer.from(sealed, 'base64url'), placeOf(context)).toString();
    const kept = attempt.parse(JSON.parse(opened));
    return kept.expiresAt > context.clock.now().getTime() ? kept : undefined;
  } catch {
    // forged, cut, or of another key
    return undefined;
  }
}

/** Nothing else that is sealed opens as an attempt. */
function placeOf(context: Context): Place {
  return { purpose: 'cookie', row: [cookieName(context)] };
}

function cookieName(context: Context): string {
  return isHttps(context) ? '__Host-confere_login' : 'confere_login';
}

function cookieOptions(context: Context) {
  return { httpOnly: true, sameSite: 'lax', secure: isHttps(context), path: '/' } as const;
}
