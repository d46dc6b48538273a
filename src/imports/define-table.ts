import type { Role } from '../access/roles.ts';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { ConfereError } from '../domain/errors.ts';
import { append } from '../domain/lists.ts';
import type { AnyColumn, Column } from './columns.ts';
import { findPlatformIds } from './find-platforms.ts';
import type { CellFault, ImportedRow, ImportFault, ImportKind, ReadRows, Titles } from './import-kind.ts';
import { readTable, type TableLimits } from './read-table.ts';

type Columns = Record<string, AnyColumn>;
/** The values of a row by column, null for an empty cell of a column that is not required. */
export type RowOf<Given extends Columns> = {
  [Name in keyof Given]: Given[Name] extends Column<infer Value> ? Value | null : never;
};

/** A change of one row. @returns whether it changed anything. @throws ConfereError where the row is refused. */
type ApplyRow<Row> = (inner: Context, row: Row, by: { actor: string }) => Promise<boolean>;

type RowFault = CellFault & { column: string };

type Table<Given extends Columns, Value> = {
  titles: Titles;
  roles: readonly [Role, ...Role[]];
  columns: Given;
  /** Columns that a file may have too: nothing of them is read. */
  ignored?: Columns;
  /** The value of a row, or its faults; undefined for a row without anything to import. */
  toValue(row: RowOf<Given>): { value: Value } | { fault: RowFault | RowFault[] } | undefined;
  /** The name of the column for a field that a change names. */
  columnOf?: Record<string, keyof Given & string>;
  isWholeState?: boolean;
  /** Default: those of `read-table.ts`. */
  limits?: TableLimits;
  compare?: ImportKind<Value>['compare'];
  finish?: (context: Context) => Promise<void>;
} & ({ applyRow: ApplyRow<Value> } | Pick<ImportKind<Value>, 'apply'>);

/** Defines a kind whose file is a table by a template. */
export function defineTable<Given extends Columns, Value>(table: Table<Given, Value>): ImportKind<Value> {
  const { titles, roles, columns, isWholeState = false, limits, compare, finish } = table;
  return {
    ...{ titles, roles, columns, isWholeState },
    read: ({ db }, bytes) => readValues(bytes, { ...table, db }),
    apply: 'apply' in table ? table.apply : (...given) => applyRows(table.applyRow, table.columnOf ?? {}, ...given),
    ...(limits ? { bytesMax: limits.bytesMax } : {}),
    ...(compare ? { compare } : {}),
    ...(finish ? { finish } : {}),
  };
}

/** Reads the values of a table's rows, and the faults of the others. @param table.db has the names of platforms. */
export async function readValues<Given extends Columns, Value>(
  bytes: Buffer,
  {
    columns,
    ignored,
    toValue,
    limits,
    db,
  }: Pick<Table<Given, Value>, 'columns' | 'ignored' | 'toValue' | 'limits'> & { db?: Reader },
  open?: Parameters<typeof readTable>[3],
): Promise<ReadRows<Value>> {
  const { rows, faults, leftOut, wrong = [] } = await readTable(bytes, { ...columns, ...ignored }, limits, open);
  if (db) await identifyPlatforms(db, columns, rows);
  const values: ImportedRow<Value>[] = [];
  for (const { number, value: row } of rows) {
    // `readTable` reads each cell by its column
    const made = toValue(row as RowOf<Given>);
    if (made === undefined) continue;
    if ('fault' in made)
      append(
        faults,
        [made.fault].flat().map((one) => ({ row: number, ...one })),
      );
    else values.push({ number, value: made.value });
  }
  // rules of fields, beside the cells that could not be read: people correct a file in one go
  const known = new Set(faults.map(({ row, column }) => `${row} ${column}`));
  for (const { number, value } of wrong) {
    const made = toValue(value as RowOf<Given>);
    const found = made && 'fault' in made ? [made.fault].flat() : [];
    append(
      faults,
      found.filter(({ column }) => !known.has(`${number} ${column}`)).map((one) => ({ row: number, ...one })),
    );
  }
  if (values.length === 0 && faults.length === 0) faults.push({ row: 0, column: null, kind: 'no_rows' });
  return { rows: values, faults: faults.sort((a, b) => a.row - b.row), leftOut };
}

/** Puts the id of a platform in place of its name; any other text stays. */
async function identifyPlatforms(
  db: Reader,
  columns: Columns,
  rows: readonly ImportedRow<Record<string, unknown>>[],
): Promise<void> {
  const names = Object.keys(columns).filter((name) => columns[name]?.isPlatform);
  const texts = rows.flatMap(({ value }) => names.map((name) => value[name]));
  const ids = await findPlatformIds(db, new Set(texts.filter((one) => typeof one === 'string')));
  for (const { value } of ids.size > 0 ? rows : [])
    for (const name of names) value[name] = ids.get(String(value[name])) ?? value[name];
}

/** Makes the change of each row, also after one is refused: all faults are listed. */
async function applyRows<Value>(
  applyRow: ApplyRow<Value>,
  columnOf: Record<string, string>,
  inner: Context,
  rows: ImportedRow<Value>[],
  by: { actor: string },
): Promise<{ changed: number; faults: ImportFault[] }> {
  const faults: ImportFault[] = [];
  let changed = 0;
  for (const { number: row, value } of rows) {
    try {
      if (await applyRow(inner, value, by)) changed++;
    } catch (error) {
      if (!(error instanceof ConfereError) || (error.code !== 'invalid_request' && error.code !== 'conflict'))
        throw error;
      // such a change is refused before it writes
      const field = error.code === 'conflict' ? 'conflict' : (Object.keys(error.fields ?? {})[0] ?? '');
      faults.push({ row, column: columnOf[field] ?? null, kind: 'refused', error });
    }
  }
  return { changed, faults };
}
