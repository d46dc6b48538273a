import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { auditShown, type ShowingAction } from '../../access/audit.ts';
import { mayActAs, type Role } from '../../access/roles.ts';
import { type Caller, findCaller, findMerchantToken, isMerchantToken, seesPersons } from '../../access/tokens.ts';
import type { Context } from '../../context.ts';
import { findMerchantByPullToken, isPullToken } from '../../merchants/pull-token.ts';
import { auditItem } from '../../operations/define-item.ts';
import { refuse } from '../../texts/refuse.ts';
import { markAuthenticated } from '../connections/mark-authenticated.ts';
import type { AuthGuard } from './guard-auth-attempts.ts';

/** Finds the caller by `Authorization: Bearer`. @throws ConfereError `unauthorized`, `too_many_requests`. */
export function authenticate(context: Context, guard: AuthGuard): RequestHandler {
  return async (request: Request, response: Response, next: NextFunction) => {
    // a merchant of expected payments is known already
    const caller = (response.locals.caller as Caller | undefined) ?? (await findBearer(context, guard, request));
    if (!caller) throw refuse('token_missing');
    response.locals.caller = caller;
    markAuthenticated(response);
    next();
  };
}

/**
 * Finds the caller by the bearer token; undefined without a valid one. A merchant is no caller.
 * @throws ConfereError `too_many_requests`; `forbidden` for a merchant's token of the portal.
 */
export async function findBearer(context: Context, guard: AuthGuard, request: Request): Promise<Caller | undefined> {
  const credential = readBearer(request);
  if (credential === undefined) return undefined;
  // a merchant's pull token opens only its events; a valid one is not a failed guess
  if (isPullToken(credential)) {
    const attempt = { kind: 'pull', address: request.ip, credential } as const;
    await guard.admit(attempt, () => findMerchantByPullToken(context, credential));
    return undefined;
  }
  const attempt = { kind: 'bearer', address: request.ip, credential } as const;
  if (isMerchantToken(credential)) {
    const merchant = await guard.admit(attempt, () => findMerchantToken(context, credential));
    if (!merchant) return undefined;
    throw refuse('merchant_token_elsewhere');
  }
  return await guard.admit(attempt, () => findCaller(context, credential));
}

export function readBearer(request: Request): string | undefined {
  return /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
}

/** Passes callers that may act as one of these roles. @throws ConfereError `forbidden`. */
export function requireRole(...roles: [Role, ...Role[]]): RequestHandler {
  return (_request, response, next) => {
    const { role } = getCaller(response);
    if (!mayActAs(role, ...roles)) {
      throw refuse('role_missing', { roles: roles.join(' or '), role });
    }
    next();
  };
}

export function getCaller(response: Response): Caller {
  const caller = response.locals.caller as Caller | undefined;
  if (!caller) throw refuse('logged_out');
  return caller;
}

/** Whether the caller may see personal data unmasked. */
export function canSeePersonalData(response: Response): boolean {
  return seesPersons(getCaller(response));
}

/** The caller's id, for the audit. */
export function getActor(response: Response): string {
  return getCaller(response).id;
}

/** Audits that a page of the console shows a person, as `auditItem` does. */
export function auditPersonalAccess(
  context: Context,
  response: Response,
  action: string,
  target: string,
): Promise<void> {
  return auditItem(context, { caller: getCaller(response), via: 'console' }, action, target);
}

/** Audits an access to the data of these transactions' persons, as `auditPersonalAccess` does, with the ids. */
export async function auditShownTransactions(
  context: Context,
  response: Response,
  action: ShowingAction,
  { target, ...shown }: { target: string; transactions: readonly (string | null)[]; via?: 'console' },
): Promise<void> {
  if (!canSeePersonalData(response)) return;
  const transactions = shown.transactions.filter((id) => id !== null);
  await auditShown(context, { actor: getActor(response), action, target }, { ...shown, transactions });
}
