import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { mayActAs, maySeePersons, type Role } from '../../access/roles.ts';
import { type Caller, findCaller } from '../../access/tokens.ts';
import type { Context } from '../../context.ts';
import { ConfereError } from '../../domain/errors.ts';
import { findMerchantByPullToken, isPullToken } from '../../merchants/pull-token.ts';
import { knowConnection } from '../connections/known-connections.ts';
import type { Guard } from './guard-attempts.ts';

/** Finds who calls by `Authorization: Bearer`. @throws ConfereError `unauthorized`, `too_many_requests`. */
export function authenticate(context: Context, guard: Guard): RequestHandler {
  return async (request: Request, response: Response, next: NextFunction) => {
    const caller = await findBearer(context, guard, request);
    if (!caller) throw new ConfereError('unauthorized', 'send Authorization: Bearer with a valid token');
    response.locals.caller = caller;
    knowConnection(response);
    next();
  };
}

/** Whose token a request carries; undefined for none, or one that opens nothing. @throws ConfereError `too_many_requests`. */
export async function findBearer(context: Context, guard: Guard, request: Request): Promise<Caller | undefined> {
  const credential = readBearer(request);
  if (credential === undefined) return undefined;
  // a merchant's opens its own events alone, and is no guess
  if (isPullToken(credential)) {
    const attempt = { kind: 'pull', address: request.ip, credential } as const;
    await guard.admit(attempt, () => findMerchantByPullToken(context, credential));
    return undefined;
  }
  return await guard.admit({ kind: 'bearer', address: request.ip, credential }, () => findCaller(context, credential));
}

export function readBearer(request: Request): string | undefined {
  return /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
}

/** Lets on whoever may act as one of these roles. @throws ConfereError `forbidden`. */
export function allow(...roles: [Role, ...Role[]]): RequestHandler {
  return (_request, response, next) => {
    const { role } = callerOf(response);
    if (!mayActAs(role, ...roles)) {
      throw new ConfereError('forbidden', `this takes the role ${roles.join(' or ')}; your token has ${role}`);
    }
    next();
  };
}

export function callerOf(response: Response): Caller {
  const caller = response.locals.caller as Caller | undefined;
  if (!caller) throw new ConfereError('unauthorized', 'nobody is logged in');
  return caller;
}

/** Whether who calls may see personal data as it is. */
export function seesPersons(response: Response): boolean {
  return maySeePersons(callerOf(response).role);
}

/** Who calls, for the audit. */
export function actorOf(response: Response): string {
  return callerOf(response).id;
}
