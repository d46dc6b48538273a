import { type Kysely, sql } from 'kysely';
import type { Redact } from '../domain/redact-text.ts';
import type { Database } from './tables.ts';

const ROWS_MAX = 200;

/** Columns of a table that hold what came from elsewhere, or what people wrote. */
export type FreeText = {
  table: keyof Database;
  /** The key that its rows are read by, in order. */
  key: string;
  columns: string[];
  /** Set to now where a row was changed. */
  markedBy?: string;
};

type Row = Record<string, unknown>;

/**
 * Takes a person out of every row of a table, a few hundred at a time; a row is written only where it told of them.
 * @returns how many rows did.
 */
export async function redactRows(
  db: Kysely<Database>,
  place: FreeText,
  redact: Redact,
  options: { write: boolean; now: Date; signal: AbortSignal },
): Promise<number> {
  const { table, key, columns } = place;
  const names = sql.join([key, ...columns].map((name) => sql.ref(name)));
  let changed = 0;
  let last = 0;
  for (;;) {
    options.signal.throwIfAborted();
    const { rows } = await sql<Row>`SELECT ${names} FROM ${sql.table(table)}
      WHERE ${sql.ref(key)} > ${last} ORDER BY ${sql.ref(key)} LIMIT ${sql.lit(ROWS_MAX)}`.execute(db);
    for (const row of rows) {
      const redacted = redactRow(row, columns, redact);
      if (redacted.length === 0) continue;
      changed++;
      if (options.write) await writeRow(db, place, Number(row[key]), redacted, options.now);
    }
    if (rows.length < ROWS_MAX) return changed;
    last = Number(rows.at(-1)?.[key]);
  }
}

type Redacted = { column: string; value: string | Buffer };

function redactRow(row: Row, columns: string[], redact: Redact): Redacted[] {
  return columns.flatMap((column) => {
    const value = row[column];
    if (!(typeof value === 'string' || Buffer.isBuffer(value)) || value.length === 0) return [];
    const text = redact(value.toString('utf8'));
    if (text === undefined) return [];
    return [{ column, value: Buffer.isBuffer(value) ? Buffer.from(text) : text }];
  });
}

async function writeRow(
  db: Kysely<Database>,
  { table, key, markedBy }: FreeText,
  at: number,
  redacted: Redacted[],
  now: Date,
): Promise<void> {
  const changes = redacted.map(({ column, value }) => sql`${sql.ref(column)} = ${value}`);
  if (markedBy) changes.push(sql`${sql.ref(markedBy)} = ${now}`);
  await sql`UPDATE ${sql.table(table)} SET ${sql.join(changes)} WHERE ${sql.ref(key)} = ${at}`.execute(db);
}
