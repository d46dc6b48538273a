/**
 * A change that people may make, declared once: the API, its document, the command line, the forms of the console, the audit
 * and the table of roles read it from here.
 */
import type { z } from 'zod';
import { type AuditedAction, auditChange, auditChangeOnce } from '../access/audit.ts';
import type { Role } from '../access/roles.ts';
import type { Caller } from '../access/tokens.ts';
import type { Context } from '../context.ts';
import type { MerchantScope } from '../portal/open-scope.ts';
import type { Reason } from '../texts/refuse.ts';
import type { Responses } from './describe-operation.ts';

/** The one who asks, and for what. */
export type By = {
  caller: Caller;
  /** The item that the address names; where it names none: '', in the portal the merchant. */
  id: string;
  /** Names in the address other than `id`. */
  params?: Readonly<Record<string, string>>;
  /** Where from, for the audit; the API and the command line say nothing. */
  via?: 'console' | 'portal';
  /** The scope of the merchant, for a change in the portal. The caller is the merchant's token then. */
  scope?: MerchantScope;
};

/** The command line, as the audit names it: who may run it may do everything. */
export const COMMAND: Caller = { id: 'command', role: 'admin' };

type Roles = readonly [Role, ...Role[]];

/** @template Given the body, parsed. @template Made what the change returns. @template Followed what `after` returns. */
type Parts<Given, Made, Followed = unknown> = {
  /** `subject.verb`. */
  name: `${string}.${string}`;
  /** The action of its audit row, as rows of earlier versions have it; default: the name. */
  audit?: string;
  /** Below `/api/v1`, as OpenAPI writes it; without it, the API does not make the change. */
  route?: `${'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;
  /** Also a merchant makes it, of the sources of its token: the change checks that (`requireSource`). */
  isForSources?: true;
  /** The field that chooses this one of several changes on one route, or of one command. */
  chosenBy?: string;
  summary: string;
  /** The body; without it, none is read. */
  input?: z.ZodType<Given>;
  /** By status; the highest one is that of the change, a dry run answers 200. */
  answers: Responses;
  /** Which of several answers it is; default: the highest. */
  status?(made: Made, followed: Followed): number;
  /** For which reasons it is refused, beside those of its fields, of roles, and of an unknown item. */
  refuses?: readonly Reason[];
  /** Only says what the change would do, and answers 200; undefined: it was not asked for. */
  dryRun?(context: Context, given: Given, by: By): Promise<object | undefined>;
  /** Does what no transaction may wait for. @throws ConfereError as the change. */
  prepare?(context: Context, given: Given, by: By): Promise<Given>;
  /** It records itself, such as in batches: it gets no transaction. */
  audits?: 'itself';
  /** Makes the change, within the transaction of its audit row. */
  change(inner: Context, given: Given, by: By): Promise<Made>;
  /**
   * The target of the audit row, perhaps with its detail; default: the id that the change returned, or `by.id`. undefined: nothing
   * was changed, so there is no row.
   */
  target?(made: Made, by: By, given: Given): string | Pick<AuditedAction, 'target' | 'detail'> | undefined;
  /** Does what follows the commit. @param made undefined where a form is sent again. */
  after?(context: Context, made: Made | undefined, given: Given, by: By): Promise<Followed>;
  /** The body of the answer; without it, none is sent. */
  answer?(context: Context, made: Made, more: { given: Given; by: By; followed: Followed }): Promise<object>;
  /** The address of what was made. */
  location?(made: Made): string;
};

/** A change of ours: an admin may make each. */
export type Change<Given = unknown, Made = unknown, Followed = unknown> = Parts<Given, Made, Followed> & {
  roles: Roles;
};

/** Also one that a merchant makes in its portal, and nobody else. */
export type AnyChange<Given = unknown, Made = unknown> = Parts<Given, Made> & { roles: Roles | 'merchant' };

/** The body of a change, parsed. */
export type GivenOf<C> = C extends AnyChange<infer Given, infer _> ? Given : never;

/** The result of a change. */
export type MadeOf<C> = C extends { change(...given: never[]): Promise<infer Made> } ? Made : never;

/** The target of an audit row whose detail is an object. */
export function auditObject({ id, via }: By, detail: object): Pick<AuditedAction, 'target' | 'detail'> {
  return { target: id, detail: [via, JSON.stringify(detail)].filter(Boolean).join(' ') };
}

/** Declares a change. */
export function defineChange<Given = unknown, Made = unknown, Followed = unknown>(
  change: Change<Given, Made, Followed>,
): Change<Given, Made, Followed> {
  return change;
}

/** Declares a change that a merchant makes in its portal. */
export function defineOwnChange<Given = unknown, Made = unknown>(change: Parts<Given, Made>): AnyChange<Given, Made> {
  return { ...change, roles: 'merchant' };
}

export type Once = {
  /** 32 hexadecimal digits: with a key that was used, nothing is changed. */
  key: string;
  /** Runs first, within the transaction. @throws what ends it. */
  check(inner: Context): Promise<void>;
};

/**
 * Makes a change, with its audit row, and does what follows it. With a key it is made once.
 * @returns what the change returned, undefined where the key was used before; and what `after` returned.
 */
export async function makeChange<Given, Made>(
  context: Context,
  change: AnyChange<Given, Made>,
  { given, by, once }: { given: Given; by: By; once?: Once },
): Promise<{ made: Made | undefined; followed: unknown }> {
  const prepared = change.prepare ? await change.prepare(context, given, by) : given;
  if (change.audits === 'itself') {
    const done = await change.change(context, prepared, by);
    return { made: done, followed: await change.after?.(context, done, prepared, by) };
  }
  const work = async (inner: Context): Promise<Made> => {
    await once?.check(inner);
    return await change.change(inner, prepared, by);
  };
  const describe = (result: Made): AuditedAction | undefined => {
    const own = typeof result === 'string' ? result : by.id;
    const target = change.target ? change.target(result, by, prepared) : own;
    if (target === undefined) return undefined;
    return {
      ...(by.via ? { detail: by.via } : {}),
      ...{ actor: by.caller.id, action: change.audit ?? change.name },
      ...(typeof target === 'string' ? { target } : target),
    };
  };
  const made = once
    ? await auditChangeOnce(context, once.key, work, describe)
    : await auditChange(context, work, describe);
  return { made, followed: await change.after?.(context, made, prepared, by) };
}

/** Makes a change, or only counts. @returns the status and the body that answer it, and what the change returned. */
export async function answerChange<Given, Made>(
  context: Context,
  change: AnyChange<Given, Made>,
  given: Given,
  by: By,
): Promise<{ status: number; body?: object; made?: Made; location?: string }> {
  const counted = await change.dryRun?.(context, given, by);
  if (counted) return { status: 200, body: counted };
  const { made: result, followed } = await makeChange(context, change, { given, by });
  const made = result as Made; // without a key, a change is made
  return {
    ...{ status: change.status?.(made, followed) ?? Number(Object.keys(change.answers).at(-1)), made },
    ...(change.answer ? { body: await change.answer(context, made, { given, by, followed }) } : {}),
    ...(change.location ? { location: change.location(made) } : {}),
  };
}
