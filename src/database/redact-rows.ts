import { type Kysely, sql } from 'kysely';
import { decodeText } from '../domain/person/decode-text.ts';
import { REMOVED, type Redact } from '../domain/person/redact-text.ts';
import type { Database } from './tables.ts';
import { transact } from './transact.ts';

const ROWS_MAX = 200;
const TOO_LONG_ERRNO = 1406;

/** Columns of a table that hold text from outside, or text that people wrote. */
export type FreeTextColumns = {
  table: keyof Database;
  /** The key column, by which the rows are read in order. */
  key: string;
  columns: string[];
  /** SQL for the id of the transaction that a row is about. */
  transactionIdSql?: string;
  /** Column that is set to `now` in changed rows. */
  redactedAtColumn?: string;
};

type Row = Record<string, unknown>;
type Redacted = { column: string; value: string | Buffer };

/**
 * Redacts a person from all rows of a table, 200 rows at a time. Only rows that mention the person are written.
 * @param options.onSkipped called with a row that can't be parsed: it stays as it is, and the others are processed.
 * @param options.personTransactionIds the person's transactions: in rows about these, the name alone is a mention.
 * @param options.beforeWrite called with the keys of each batch before it is written.
 * @returns how many rows mention the person.
 */
export async function redactRows(
  db: Kysely<Database>,
  place: FreeTextColumns,
  redact: Redact,
  options: {
    write: boolean;
    now: Date;
    signal: AbortSignal;
    onSkipped: (row: string) => void;
    personTransactionIds?: Set<string>;
    beforeWrite?: (keys: number[]) => Promise<void>;
  },
): Promise<number> {
  const { table, key, columns } = place;
  const names = sql.join([key, ...columns].map((name) => sql.ref(name)));
  const about = sql.raw(place.transactionIdSql ?? 'NULL');
  let changed = 0;
  let last = 0;
  for (;;) {
    options.signal.throwIfAborted();
    const { rows } = await sql<Row>`SELECT ${names}, ${about} AS about_id FROM ${sql.table(table)}
      WHERE ${sql.ref(key)} > ${last} ORDER BY ${sql.ref(key)} LIMIT ${sql.lit(ROWS_MAX)}`.execute(db);
    const mentions: { at: number; redact: Redact }[] = [];
    for (const row of rows) {
      const at = Number(row[key]);
      const isTheirs = options.personTransactionIds?.has(String(row.about_id)) ?? false;
      const redactIt: Redact = (text) => redact(text, isTheirs);
      let redacted: Redacted[] = [];
      try {
        redacted = redactRow(row, columns, redactIt);
      } catch {
        options.onSkipped(`${table} ${at}`);
      }
      if (redacted.length > 0) mentions.push({ at, redact: redactIt });
    }
    changed += mentions.length;
    if (mentions.length > 0) await options.beforeWrite?.(mentions.map((row) => row.at));
    if (options.write) for (const row of mentions) await rewriteRow(db, place, row.at, { ...row, now: options.now });
    if (rows.length < ROWS_MAX) return changed;
    last = Number(rows.at(-1)?.[key]);
  }
}

function redactRow(row: Row, columns: string[], redact: Redact): Redacted[] {
  return columns.flatMap((column) => {
    const value = row[column];
    if (!(typeof value === 'string' || Buffer.isBuffer(value)) || value.length === 0) return [];
    const text = redact(Buffer.isBuffer(value) ? decodeText(value) : value);
    if (text === undefined) return [];
    return [{ column, value: Buffer.isBuffer(value) ? Buffer.from(text) : text }];
  });
}

/** Locks the row and redacts its current content: a note may have changed since it was read. */
async function rewriteRow(
  db: Kysely<Database>,
  { table, key, columns, redactedAtColumn: markedBy }: FreeTextColumns,
  at: number,
  { redact, now }: { redact: Redact; now: Date },
): Promise<void> {
  const names = sql.join(columns.map((name) => sql.ref(name)));
  await transact(db, async (trx) => {
    const { rows } = await sql<Row>`SELECT ${names} FROM ${sql.table(table)}
      WHERE ${sql.ref(key)} = ${at} FOR UPDATE`.execute(trx);
    for (const { column, value } of rows[0] ? redactRow(rows[0], columns, redact) : []) {
      const mark = markedBy ? sql`, ${sql.ref(markedBy)} = ${now}` : sql``;
      const write = (text: string | Buffer) =>
        sql`UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${text}${mark} WHERE ${sql.ref(key)} = ${at}`.execute(
          trx,
        );
      // the replacement may be longer than the value and exceed the column: then the whole is replaced, or emptied
      if (!(await fits(write(value))) && !(await fits(write(REMOVED)))) await write('');
    }
  });
}

/** Whether the value fits its column. A refused statement does not change the transaction. */
async function fits(written: Promise<unknown>): Promise<boolean> {
  try {
    await written;
    return true;
  } catch (error) {
    if ((error as { errno?: number }).errno === TOO_LONG_ERRNO) return false;
    throw error;
  }
}
