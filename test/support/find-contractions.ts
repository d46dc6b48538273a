import { type Kysely, sql } from 'kysely';

export type Column = {
  /** `table.column` */
  name: string;
  type: string;
  charset: string | null;
  nullable: boolean;
  /** NULL where there is none. */
  initial: string | null;
  extra: string;
};

export type Schema = {
  columns: Column[];
  /** `table.index`, with the columns of each unique one. */
  uniques: Map<string, string[]>;
  /** `table.trigger` */
  triggers: string[];
};

/** Wider types hold every value of the narrower one before them. */
const WIDENINGS = [
  ['tinyint', 'smallint', 'mediumint', 'int', 'bigint'],
  ['tinytext', 'text', 'mediumtext', 'longtext'],
  ['tinyblob', 'blob', 'mediumblob', 'longblob'],
];

/**
 * Returns what keeps processes of the earlier schema from working on the later one: tables and columns that are gone or
 * hold less, what their INSERTs lack, and what may refuse their rows. Indexes that are not unique may come and go.
 */
export function findContractions(before: Schema, after: Schema): string[] {
  const later = new Map(after.columns.map((column) => [column.name, column]));
  const earlier = new Set(before.columns.map(({ name }) => name));
  const tables = new Set(before.columns.map(({ name }) => tableOf(name)));
  const ofOldTable = (name: string): boolean => tables.has(tableOf(name));
  const lost = before.columns.flatMap((column) => describeLoss(column, later.get(column.name)));
  const required = after.columns
    .filter(({ name, nullable, initial, extra }) => {
      const fillsItself = nullable || initial !== null || extra !== '';
      return ofOldTable(name) && !earlier.has(name) && !fillsItself;
    })
    .map(({ name }) => `${name} is new and has no default: an INSERT of the earlier version fails`);
  const unique = [...after.uniques]
    .filter(([name, columns]) => ofOldTable(name) && !isSame(before.uniques.get(name), columns))
    // rows of the earlier version have NULL in a new column, which no unique index compares
    .filter(([, columns]) => !columns.some((name) => !earlier.has(name) && later.get(name)?.nullable))
    .map(([name]) => `${name} is a new unique index: it may refuse rows of the earlier version`);
  const triggers = after.triggers
    .filter((name) => ofOldTable(name) && !before.triggers.includes(name))
    .map((name) => `${name} is a new trigger: it may refuse rows of the earlier version`);
  return [...lost, ...required, ...unique, ...triggers];
}

function describeLoss(column: Column, later: Column | undefined): string[] {
  const { name, type, charset, nullable, initial } = column;
  if (!later) return [`${name} is gone`];
  return [
    ...(isWidened(type, later.type) && charset === later.charset ? [] : [`${name} was ${type}, is ${later.type}`]),
    ...(nullable && !later.nullable ? [`${name} does not take NULL any more`] : []),
    ...(initial !== null && later.initial === null && !later.nullable ? [`${name} has no default any more`] : []),
  ];
}

function isWidened(before: string, after: string): boolean {
  if (before === after) return true;
  const parse = (type: string) => /^(\w+)(?:\((\d+)\))?(.*)$/.exec(type) ?? [];
  const [, oldBase = '', oldSize, oldRest] = parse(before);
  const [, newBase = '', newSize, newRest] = parse(after);
  if (oldRest !== newRest) return false;
  if (oldBase === newBase) return /^var/.test(oldBase) && Number(newSize) >= Number(oldSize);
  return WIDENINGS.some((types) => types.includes(oldBase) && types.indexOf(newBase) > types.indexOf(oldBase));
}

function isSame(before: string[] | undefined, after: string[]): boolean {
  return before !== undefined && before.join() === after.join();
}

function tableOf(name: string): string {
  return name.split('.')[0] ?? '';
}

/** Reads the tables of Confere; not those that `migrate` itself writes. */
export async function readSchema(db: Kysely<unknown>): Promise<Schema> {
  const ours = sql`table_schema = DATABASE() AND table_name NOT IN ('migrations', 'migration_lock')`;
  const columns = await sql<Omit<Column, 'nullable'> & { nullable: string }>`
    SELECT CONCAT(table_name, '.', column_name) AS name, column_type AS type, character_set_name AS charset,
      is_nullable AS nullable, column_default AS initial, extra AS extra
    FROM information_schema.columns WHERE ${ours}`.execute(db);
  const uniques = await sql<{ name: string; column: string }>`
    SELECT CONCAT(table_name, '.', index_name) AS name, CONCAT(table_name, '.', column_name) AS \`column\`
    FROM information_schema.statistics WHERE ${ours} AND non_unique = 0 ORDER BY name, seq_in_index`.execute(db);
  const triggers = await sql<{ name: string }>`
    SELECT CONCAT(event_object_table, '.', trigger_name) AS name FROM information_schema.triggers
    WHERE trigger_schema = DATABASE()`.execute(db);
  return {
    columns: columns.rows.map((row) => ({
      ...row,
      nullable: row.nullable === 'YES',
      // MariaDB says NULL in words
      initial: row.initial === 'NULL' ? null : row.initial,
    })),
    uniques: new Map(
      [...Map.groupBy(uniques.rows, ({ name }) => name)].map(([name, of]) => [name, of.map(({ column }) => column)]),
    ),
    triggers: triggers.rows.map(({ name }) => name),
  };
}
