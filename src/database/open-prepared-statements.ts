import type { PoolConnection, PrepareStatementInfo } from 'mysql2';
import { type ConnectionTarget, openConnectionPool } from '../../embedded/open-database.ts';
import { isDuplicateKey } from './transact.ts';

export type ParameterValue = string | number | Buffer | Date | null;

/** Statements that come again and again, each prepared once a connection, on connections of their own. */
export type PreparedStatements = {
  /**
   * Runs one statement, which commits itself.
   * @param msMax after so long its connection is closed and the promise rejects: whether it was committed is not known.
   */
  execute(text: string, values: ParameterValue[], msMax: number): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * Many rows in one prepared INSERT cost half of what they cost as text: bodies go as bytes, and nothing is parsed. The
 * connections are nobody else's, so a worker that fills the pool does not hold up whoever waits for a commit.
 */
export function openPreparedStatements(target: ConnectionTarget, connectionLimit: number): PreparedStatements {
  const pool = openConnectionPool({ ...target, connectionLimit });
  return {
    execute(text, values, msMax) {
      // let go of once it is settled: mysql2 keeps whoever waits for a connection, also when he no longer does
      let writing = values;
      return new Promise((resolve, reject) => {
        let held: PoolConnection | undefined;
        let settled = false;
        const settle = (error: unknown): void => {
          if (settled) return;
          settled = true;
          writing = [];
          clearTimeout(late);
          if (error) reject(error);
          else resolve();
        };
        const late = setTimeout(() => {
          settle(new Error(`the database took longer than ${msMax} ms`));
          held?.destroy();
        }, msMax);
        pool.getConnection((unavailable, connection) => {
          if (unavailable) return settle(unavailable);
          if (settled) return connection.release();
          held = connection;
          statementOf(connection, text, (refused, statement) => {
            const end = (error: unknown): void => {
              if (!settled) connection.release();
              settle(error);
            };
            if (refused || !statement) return end(refused);
            statement.execute(writing, (error: unknown) => {
              if (error) forgetAfter(error, connection, text);
              end(error);
            });
          });
        });
      });
    },
    [Symbol.asyncDispose]: () => new Promise((resolve) => pool.end(() => resolve())),
  };
}

const statements = new WeakMap<PoolConnection, Map<string, PrepareStatementInfo>>();

/** It may be no more what the server knows: the next use prepares it again. A duplicate key says that all is well with it. */
function forgetAfter(error: unknown, connection: PoolConnection, text: string): void {
  const { errno, fatal } = error as { errno?: number; fatal?: boolean };
  // a connection that is lost took its statements with it
  if (errno === undefined || fatal === true || isDuplicateKey(error)) return;
  statements.get(connection)?.delete(text);
  // closes it as well: mysql2 keeps it by its text too, and would hand it out again
  connection.unprepare(text);
}

/** A connection's own statement of a text, prepared at its first use. Known by us: mysql2 makes a key of all the text each time. */
function statementOf(
  connection: PoolConnection,
  text: string,
  use: (error: unknown, statement: PrepareStatementInfo | undefined) => void,
): void {
  const known = statements.get(connection) ?? new Map<string, PrepareStatementInfo>();
  const statement = known.get(text);
  if (statement) {
    use(undefined, statement);
    return;
  }
  connection.prepare(text, (error, made) => {
    if (!error) statements.set(connection, known.set(text, made));
    use(error, made);
  });
}
