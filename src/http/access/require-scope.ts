import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { type Caller, isMerchantToken } from '../../access/tokens.ts';
import type { Context } from '../../context.ts';
import { findScopeByToken, type MerchantScope } from '../../portal/open-scope.ts';
import { refuse } from '../../texts/refuse.ts';
import { markAuthenticated } from '../connections/mark-authenticated.ts';
import { readBearer } from './authorize.ts';
import type { AuthGuard } from './guard-auth-attempts.ts';
import { createMerchantLimit, MERCHANT_REQUESTS_PER_S_MAX } from './limit-merchant.ts';

/**
 * Opens the scope of the merchant whose token the request has. No other token passes, also none of ours.
 * @throws ConfereError `unauthorized`, `too_many_requests`.
 */
export function authenticateMerchant(context: Context, guard: AuthGuard): RequestHandler {
  const find = scopeFinder(context, guard);
  return async (request: Request, response: Response, next: NextFunction) => {
    keepScope(response, await find(request));
    next();
  };
}

/**
 * Makes a merchant whose token has sources the caller: it reads and writes the expected payments of these. Other tokens are left to
 * `authenticate`, which refuses merchants.
 */
export function authenticateSources(context: Context, guard: AuthGuard): RequestHandler {
  const find = scopeFinder(context, guard);
  return async (request: Request, response: Response, next: NextFunction) => {
    if (isMerchantToken(readBearer(request) ?? '')) {
      const scope = await find(request);
      if (scope.sources.length === 0) throw refuse('merchant_token_elsewhere');
      response.locals.caller = callerOf(scope);
      markAuthenticated(response);
    }
    next();
  };
}

/** The merchant as a caller, who reads and writes the expected payments of its sources. */
export function callerOf({ actor, sources, merchant }: MerchantScope): Caller & { merchantSeq: number } {
  return { id: actor, role: 'viewer', sources, merchantSeq: merchant.seq };
}

/** Finds the scope of the token that a request has, within the limits. @throws ConfereError `unauthorized`, `too_many_requests`. */
function scopeFinder(context: Context, guard: AuthGuard): (request: Request) => Promise<MerchantScope> {
  const limit = limitScope(context);
  return async (request) => {
    const credential = readBearer(request) ?? '';
    const attempt = { kind: 'bearer', address: request.ip, credential } as const;
    const scope = isMerchantToken(credential)
      ? await guard.admit(attempt, () => findScopeByToken(context, credential))
      : undefined;
    if (!scope) throw refuse(credential === '' ? 'merchant_token_missing' : 'merchant_token_unknown');
    limit(scope);
    return scope;
  };
}

/** Limits the requests of each merchant. @returns a function that throws ConfereError `too_many_requests`. */
export function limitScope(
  context: Context,
  requestsMax = MERCHANT_REQUESTS_PER_S_MAX,
): (scope: MerchantScope) => void {
  const admit = createMerchantLimit(context, requestsMax);
  return ({ merchant }) => {
    if (admit(merchant.seq)) return;
    throw refuse('merchant_requests_limited', { n: requestsMax }, { retryAfterS: 1 });
  };
}

/** Keeps the scope for the handlers of this request. It is no caller: routes of ours do not admit it. */
export function keepScope(response: Response, scope: MerchantScope): void {
  response.locals.scope = scope;
  markAuthenticated(response);
}

/** Passes requests that have a scope. @throws ConfereError `unauthorized`. */
export const requireScope: RequestHandler = (_request, response, next) => {
  getScope(response);
  next();
};

/** The scope of the request's merchant. */
export function getScope(response: Response): MerchantScope {
  const scope = response.locals.scope as MerchantScope | undefined;
  if (!scope) throw refuse('merchant_logged_out');
  return scope;
}
