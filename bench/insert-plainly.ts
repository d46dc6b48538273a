import mysql, { type Pool, type RowDataPacket } from 'mysql2/promise';

const COPY = 'bench_plain';

/**
 * The limit of a load: the rows that it left, inserted once more into empty copies of their tables (indexes included, no
 * triggers), in as many transactions and as many at once, a table's rows of a transaction in one INSERT. The statements are
 * written before the time is taken.
 * @returns transactions of the ledger a second.
 */
export async function insertPlainly(
  server: { socketPath: string; database: string },
  options: { pages: number; inFlight: number; rows: number },
): Promise<number> {
  const pool = mysql.createPool({ ...server, user: 'root', connectionLimit: options.inFlight, timezone: 'Z' });
  try {
    await pool.query(`CREATE DATABASE ${COPY}`);
    const pages = await writeStatements(pool, server.database, options);
    const insertPages = async (): Promise<void> => {
      for (let page = pages.shift(); page !== undefined; page = pages.shift()) await insertPage(pool, page);
    };
    const beganMs = performance.now();
    await Promise.all(Array.from({ length: options.inFlight }, insertPages));
    return Math.round((options.rows * 1000) / (performance.now() - beganMs));
  } finally {
    await pool.query(`DROP DATABASE ${COPY}`);
    await pool.end();
  }
}

/** Copies the tables that have a row for each transaction or more. @returns the INSERTs of each page. */
async function writeStatements(
  pool: Pool,
  database: string,
  { pages, rows }: { pages: number; rows: number },
): Promise<string[][]> {
  const read = async (statement: string, values: unknown[] = []): Promise<RowDataPacket[]> =>
    (await pool.query<RowDataPacket[]>(statement, values))[0];
  const columns = await read(
    `SELECT table_name AS of, column_name AS name FROM information_schema.columns
     WHERE table_schema = ? AND COALESCE(generation_expression, '') = '' ORDER BY table_name, ordinal_position`,
    [database],
  );
  const statements: string[][] = Array.from({ length: pages }, () => []);
  for (const [table, of] of Map.groupBy(columns, (column) => String(column.of))) {
    const names = of.map(({ name }) => String(name));
    const all = await read('SELECT ?? FROM ??', [names, table]);
    if (all.length < rows) continue;
    await pool.query(`CREATE TABLE ${COPY}.${table} LIKE ${table}`);
    const each = Math.ceil(all.length / pages);
    for (const [page, of] of statements.entries()) {
      const values = all.slice(page * each, (page + 1) * each).map((row) => names.map((name) => row[name]));
      if (values.length > 0) of.push(mysql.format(`INSERT INTO ${COPY}.${table} (??) VALUES ?`, [names, values]));
    }
  }
  return statements;
}

async function insertPage(pool: Pool, statements: string[]): Promise<void> {
  const connection = await pool.getConnection();
  try {
    await connection.beginTransaction();
    for (const statement of statements) await connection.query(statement);
    await connection.commit();
  } finally {
    connection.release();
  }
}
