import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { type Caller, findCaller, mayActAs, type Role } from '../access/tokens.ts';
import type { Context } from '../context.ts';
import { ConfereError } from '../domain/errors.ts';

/** Finds who calls by `Authorization: Bearer`. @throws ConfereError `unauthorized`. */
export function authenticate(context: Context): RequestHandler {
  return async (request: Request, response: Response, next: NextFunction) => {
    const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    const caller = token ? await findCaller(context, token) : undefined;
    if (!caller) throw new ConfereError('unauthorized', 'send Authorization: Bearer with a valid token');
    response.locals.caller = caller;
    next();
  };
}

/** Lets on whoever has this role or a higher one. @throws ConfereError `forbidden`. */
export function allow(role: Role): RequestHandler {
  return (_request, response, next) => {
    if (!mayActAs(callerOf(response).role, role)) {
      throw new ConfereError('forbidden', `this takes the role ${role}; your token has ${callerOf(response).role}`);
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
  return mayActAs(callerOf(response).role, 'operator');
}

/** Who calls, for the audit. */
export function actorOf(response: Response): string {
  return callerOf(response).id;
}
