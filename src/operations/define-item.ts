/** Declares what people may read whole: one item of a list, or a table without pages. */
import type { z } from 'zod';
import type { Caller } from '../access/tokens.ts';
import type { Context } from '../context.ts';

/** Every role may read it. */
export type Item<Shown extends object = object> = {
  /** Below `/api/v1`, as OpenAPI writes it. */
  route: `/${string}`;
  summary: string;
  /** The answer. */
  item: z.ZodType;
  /**
   * Reads it as this caller may see it, and audits that. Each statement is limited in time.
   * @param by.id the item that the address names. @throws ConfereError `not_found`.
   */
  read(reading: Context, by: { caller: Caller; id: string }): Promise<Shown>;
};

export function defineItem<Shown extends object>(item: Item<Shown>): Item<Shown> {
  return item;
}
