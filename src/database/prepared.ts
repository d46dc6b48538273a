import type { PoolConnection, PrepareStatementInfo } from 'mysql2';
import { type ConnectionTarget, openConnections } from '../../embedded/pool.ts';

export type Value = string | number | Buffer | Date | null;

/** Statements that come again and again, each prepared once a connection, on connections of their own. */
export type Prepared = {
  /**
   * Runs one statement, which commits itself.
   * @param msMax after so long its connection is closed and the promise rejects: whether it was committed is not known.
   */
  execute(text: string, values: Value[], msMax: number): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * Many rows in one prepared INSERT cost half of what they cost as text: bodies go as bytes, and nothing is parsed. The
 * connections are nobody else's, so a worker that fills the pool does not hold up whoever waits for a commit.
 */
export function openPrepared(target: ConnectionTarget, connectionLimit: number): Prepared {
  const pool = openConnections({ ...target, connectionLimit });
  return {
    execute: (text, values, msMax) =>
      new Promise((resolve, reject) => {
        let held: PoolConnection | undefined;
        let settled = false;
        const settle = (error: unknown): void => {
          if (settled) return;
          settled = true;
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
            statement.execute(values, end);
          });
        });
      }),
    [Symbol.asyncDispose]: () => new Promise((resolve) => pool.end(() => resolve())),
  };
}

const statements = new WeakMap<PoolConnection, Map<string, PrepareStatementInfo>>();

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
