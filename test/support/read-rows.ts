import type { Kysely, Selectable, SelectType } from 'kysely';
import type { Database } from '../../src/database/tables.ts';

type Name = keyof Database;
type Row<T extends Name, C extends keyof Database[T]> = Pick<
  Selectable<Database[T]>,
  C & keyof Selectable<Database[T]>
>;
/** The value that a column has to have. */
type Values<T extends Name> = { [C in keyof Database[T]]?: SelectType<Database[T][C]> | undefined };

/**
 * Reads columns of the rows of a table that have these values.
 * @param order the columns that they are ordered by, each with ` desc` for the last first.
 */
export async function readRows<T extends Name, C extends keyof Database[T] & string>(
  db: Kysely<Database>,
  table: T,
  columns: readonly C[],
  values: Values<T> = {},
  order: readonly string[] = [],
): Promise<Row<T, C>[]> {
  // the builder's types know one table each
  const tables = db as unknown as Kysely<Record<string, Record<string, unknown>>>;
  let query = tables.selectFrom<string>(table).select(columns as readonly string[]);
  for (const [column, value] of Object.entries(values)) query = query.where(column, '=', value);
  for (const one of order) {
    const [column = '', direction] = one.split(' ');
    query = query.orderBy(column, direction === 'desc' ? 'desc' : 'asc');
  }
  return (await query.execute()) as Row<T, C>[];
}

/** Reads columns of the first row of a table that has these values. @throws Error where there is none. */
export async function readRow<T extends Name, C extends keyof Database[T] & string>(
  ...asked: Parameters<typeof readRows<T, C>>
): Promise<Row<T, C>> {
  const [row] = await readRows<T, C>(...asked);
  if (!row) throw new Error(`no row of ${asked[1]} has such values: ${Object.keys(asked[3] ?? {}).join(', ')}`);
  return row;
}
