/** What people may read whole, declared once: one item of a list, or a table without pages. The API and its document read it from here. */
import type { z } from 'zod';
import type { Role } from '../access/roles.ts';
import type { Caller } from '../access/tokens.ts';
import type { Context } from '../context.ts';

/** Who reads, and which item; '' where the address names none. */
export type Reading = { caller: Caller; id: string };

export type Item = {
  roles: readonly [Role, ...Role[]];
  /** Below `/api/v1`, as OpenAPI writes it. */
  route: `/${string}`;
  summary: string;
  /** The answer. */
  item: z.ZodType;
  /** Reads it as this caller may see it, and audits that. Each statement is limited in time. @throws ConfereError `not_found`. */
  read(reading: Context, by: Reading): Promise<object>;
};

export function defineItem(item: Omit<Item, 'roles'> & Partial<Pick<Item, 'roles'>>): Item {
  return { roles: ['viewer'], ...item };
}
