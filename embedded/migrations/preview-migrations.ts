/**
 * `migrate --dry-run`: runs the pending migrations on a connection that reads for real and only records everything else, and
 * estimates from the sizes of the tables what each statement costs.
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import {
  type CompiledQuery,
  type DatabaseConnection,
  DummyDriver,
  Kysely,
  MysqlAdapter,
  MysqlIntrospector,
  MysqlQueryCompiler,
  type QueryResult,
  sql,
} from 'kysely';
import { loadMigration } from './migrate.ts';
import { type MigrationFolder, planMigrations } from './plan-migrations.ts';

/**
 * `instant`: only the table's definition changes. `index`: the table is read once, and takes writes meanwhile. `rebuild`: the
 * table is copied, and writes may wait. `rows`: rows are read or written in one statement.
 */
export type Effect = 'instant' | 'index' | 'rebuild' | 'rows';

export type PreviewedStatement = {
  sql: string;
  parameters: readonly unknown[];
  effect: Effect;
  /** The table that is changed, if it exists already, with the server's own estimates of its size. */
  table?: { name: string; rows: number; bytes: number };
  /** Rounded up to whole seconds; 0 for an instant change and a new table. */
  seconds: number;
};

export type PreviewedMigration = {
  file: string;
  statements: PreviewedStatement[];
  /** Why the preview of this file ends early. `refused`: `migrate` would fail in the same way. */
  stopped?: { says: string; refused: boolean };
};

/** Rows a second that a small server manages (bench/migrate.ts measures them). */
const ROWS_PER_SECOND: Record<Exclude<Effect, 'instant'>, number> = { index: 200_000, rebuild: 60_000, rows: 30_000 };
const NO_SUCH_TABLE_ERRNO = 1146;
const CREATED_TRIGGER = /^\s*CREATE TRIGGER `?(\w+)/;

/**
 * Returns what `migrate` would run, in order. Changes nothing.
 * @param options.max of the pending migrations, the first.
 * @throws an error with the code MIGRATION_TOO_OLD or MIGRATION_TOO_NEW.
 */
export async function previewMigrations<DB>(
  db: Kysely<DB>,
  options: MigrationFolder & { max?: number },
): Promise<PreviewedMigration[]> {
  // cast: migrations create the tables, so no table type holds
  const untyped = db as unknown as Kysely<unknown>;
  const { pending } = await planMigrations(untyped, options);
  const sizes = await readSizes(untyped);
  const previewed: PreviewedMigration[] = [];
  for (const file of pending.slice(0, options.max)) {
    const recorder = createRecorder(untyped);
    const { up } = await loadMigration(options.folder, file);
    const stopped = await up(recorder.db).then(
      () => undefined,
      (error: unknown) => explainStop(error, recorder.missesTable()),
    );
    const statements = recorder.recorded.map((query) => estimate(query, sizes));
    previewed.push({ file, statements, ...(stopped && { stopped }) });
  }
  return previewed;
}

/**
 * Returns the triggers that the migrations make and the database lacks, by name: of a database whose migrations all ran, and
 * which was copied without its triggers.
 */
export async function findMissingTriggers<DB>(db: Kysely<DB>, folder: string): Promise<Map<string, CompiledQuery>> {
  const missing = new Map<string, CompiledQuery>();
  for (const file of (await readdir(folder)).sort()) {
    if (!(await readFile(path.join(folder, file), 'utf8')).includes('CREATE TRIGGER')) continue;
    // cast: as above
    const recorder = createRecorder(db as unknown as Kysely<unknown>);
    await (await loadMigration(folder, file)).up(recorder.db);
    for (const query of recorder.recorded) {
      const name = CREATED_TRIGGER.exec(query.sql)?.[1];
      // a later migration replaces it
      if (name !== undefined) missing.set(name, query);
    }
  }
  return missing;
}

/** A migration that reads a table of an earlier pending one can't be previewed further. */
function explainStop(error: unknown, missesTable: boolean): PreviewedMigration['stopped'] {
  if (missesTable) return { says: 'it reads a table that a migration before it creates', refused: false };
  return { says: (error as Error).message, refused: true };
}

type Recorder = { db: Kysely<unknown>; recorded: CompiledQuery[]; missesTable: () => boolean };

function createRecorder(real: Kysely<unknown>): Recorder {
  const recorded: CompiledQuery[] = [];
  let missesTable = false;
  const connection: DatabaseConnection = {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      if (!/^\s*(?:SELECT|SHOW)\b/i.test(query.sql)) {
        recorded.push(query);
        return { rows: [], numAffectedRows: 0n };
      }
      try {
        return (await real.executeQuery(query)) as QueryResult<R>;
      } catch (error) {
        if ((error as { errno?: number }).errno !== NO_SUCH_TABLE_ERRNO) throw error;
        missesTable = true;
        return { rows: [] };
      }
    },
    streamQuery() {
      throw new Error('a migration streams no rows');
    },
  };
  class RecordingDriver extends DummyDriver {
    override async acquireConnection(): Promise<DatabaseConnection> {
      return connection;
    }
  }
  const db = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new MysqlAdapter(),
      createDriver: () => new RecordingDriver(),
      createIntrospector: (kysely) => new MysqlIntrospector(kysely),
      createQueryCompiler: () => new MysqlQueryCompiler(),
    },
  });
  return { db, recorded, missesTable: () => missesTable };
}

type Sizes = Map<string, { rows: number; bytes: number }>;

async function readSizes(db: Kysely<unknown>): Promise<Sizes> {
  const { rows } = await sql<{ name: string; count: number; bytes: number }>`
    SELECT table_name AS name, table_rows AS count, data_length + index_length AS bytes FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'`.execute(db);
  return new Map(rows.map(({ name, count, bytes }) => [name, { rows: Number(count), bytes: Number(bytes) }]));
}

function estimate({ sql: text, parameters }: CompiledQuery, sizes: Sizes): PreviewedStatement {
  const { effect, table: name } = classifyStatement(text);
  const size = name === undefined ? undefined : sizes.get(name);
  const seconds = effect === 'instant' || !size ? 0 : Math.ceil(size.rows / ROWS_PER_SECOND[effect]);
  const shown = text.trim().replace(/\n\s+/g, '\n  ');
  return { sql: shown, parameters, effect, seconds, ...(name !== undefined && size && { table: { name, ...size } }) };
}

const CHANGED_TABLE =
  /^\s*(?:ALTER\s+TABLE|UPDATE|DELETE\s+FROM|INSERT\s+INTO|CREATE\s+(?:UNIQUE\s+)?INDEX\s+\S+\s+ON)\s+`?(\w+)`?/i;
const REBUILDS = /\b(?:MODIFY|CHANGE|CONVERT\s+TO|ENGINE|ROW_FORMAT|(?:ADD|DROP)\s+PRIMARY\s+KEY|STORED|PERSISTENT)\b/i;
const BUILDS_INDEX = /\bADD\s+(?:UNIQUE\s+|FULLTEXT\s+)?(?:KEY|INDEX|CONSTRAINT)\b|^\s*CREATE\s+(?:UNIQUE\s+)?INDEX\b/i;

/** Says from its text what a statement changes, and in which way InnoDB does that. */
export function classifyStatement(text: string): { effect: Effect; table: string | undefined } {
  const table = CHANGED_TABLE.exec(text)?.[1];
  if (/^\s*(?:UPDATE|DELETE|INSERT)\b/i.test(text)) return { effect: 'rows', table };
  if (table === undefined) return { effect: 'instant', table };
  // texts in quotes, such as comments and defaults, are no clauses
  const clauses = text.replace(/'(?:[^'\\]|''|\\.)*'/g, "''");
  if (REBUILDS.test(clauses)) return { effect: 'rebuild', table };
  return { effect: BUILDS_INDEX.test(clauses) ? 'index' : 'instant', table };
}
