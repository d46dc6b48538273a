/** Declares what people may read whole: one item of a list, a table without pages, or figures. */
import type { z } from 'zod';
import { audit } from '../access/audit.ts';
import { seesPersons } from '../access/tokens.ts';
import type { Context } from '../context.ts';
import type { By } from './define-change.ts';

/** The one who asks, and for what. */
export type ReadBy = Pick<By, 'caller' | 'id' | 'params' | 'via'>;

/** Every role may read it. @template Query the query, parsed. */
export type Item<Shown extends object = object, Query = unknown> = {
  /** Below `/api/v1`, as OpenAPI writes it. */
  route: `/${string}`;
  summary: string;
  query?: z.ZodObject & z.ZodType<Query>;
  /** The answer. */
  item: z.ZodType;
  /** Also a merchant reads it, of the sources of its token. */
  isForSources?: true;
  /**
   * Reads it as this caller may see it, and audits that. Each statement is limited in time.
   * @throws ConfereError `not_found`, `invalid_request`.
   */
  read(reading: Context, by: ReadBy, query: Query): Promise<Shown>;
};

/** Without a query, `read` takes none. */
export function defineItem<Shown extends object, Query = void>(item: Item<Shown, Query>): Item<Shown, Query> {
  return item;
}

/** Records that a person is about to be shown, to callers who see persons. */
export async function auditItem(
  context: Context,
  { caller, via }: Pick<ReadBy, 'caller' | 'via'>,
  action: string,
  target: string,
): Promise<void> {
  if (seesPersons(caller)) await audit(context, { actor: caller.id, action, target, detail: via });
}
