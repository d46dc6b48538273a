import mysql, { type RowDataPacket } from 'mysql2/promise';
import { fillTable, NO_ROWS, readShape, type Template } from './make-templates.ts';

/** The next number in a table's definition, which rows leave behind. */
const COUNTER = / AUTO_INCREMENT=(\d+)/;
/** For a table that a transaction still holds. */
const LOCK_WAIT_S = 2;

/**
 * Makes a database what its template is: the tables that a test file wrote are emptied, those of the template with rows filled
 * again. Dropping and creating 102 tables takes four times as long.
 * @returns false where the database has other tables, columns or triggers than the template, or is in use: it is not taken again.
 */
export async function emptyDatabase(
  server: { socketPath: string; user: string },
  database: string,
  template: Template,
): Promise<boolean> {
  const connection = await mysql.createConnection({ ...server, multipleStatements: true, charset: 'utf8mb4' });
  try {
    const rows = async (sql: string) => (await connection.query<RowDataPacket[]>(sql))[0];
    if ((await rows('SHOW PROCESSLIST')).some(({ db }) => db === database)) return false;
    await connection.query(`USE ${database}; SET lock_wait_timeout = ${LOCK_WAIT_S}; SET foreign_key_checks = 0`);
    const names = Object.keys(template.tables);
    const found = (await rows('SHOW TABLES')).map((row) => String(Object.values(row)[0]));
    if (JSON.stringify(found.sort()) !== JSON.stringify(names.toSorted())) return false;
    const shape = await readShape(connection, names);
    if (shape.triggers !== template.triggers) return false;
    const statements: string[] = [];
    for (const [name, wanted] of Object.entries(template.tables)) {
      const { definition = '', checksum } = shape.tables[name] ?? {};
      if (definition.replace(COUNTER, '') !== wanted.definition.replace(COUNTER, '')) return false;
      if (definition === wanted.definition && checksum === wanted.checksum) continue;
      statements.push(`TRUNCATE TABLE ${mysql.escapeId(name)}`);
      const [, next] = COUNTER.exec(wanted.definition) ?? [];
      if (next !== undefined) statements.push(`ALTER TABLE ${mysql.escapeId(name)} AUTO_INCREMENT = ${next}`);
      if (wanted.checksum !== NO_ROWS) statements.push(fillTable(name, template.database));
    }
    if (statements.length > 0) await connection.query(statements.join(';'));
    return true;
  } catch {
    // dropped by its test, or locked
    return false;
  } finally {
    connection.destroy();
  }
}
