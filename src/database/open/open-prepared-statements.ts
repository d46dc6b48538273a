import type { PoolConnection, PrepareStatementInfo } from 'mysql2';
import type { PoolCounts } from '../../../embedded/count-connections.ts';
import type { HostChoice } from '../../../embedded/fail-over.ts';
import { type ConnectionTarget, openConnectionPool } from '../../../embedded/open-database.ts';
import { ConfereError } from '../../domain/errors.ts';
import { isDuplicateKey } from '../transact.ts';
import { nameDatabase } from './explain-failure.ts';

export type ParameterValue = string | number | bigint | Buffer | Date | null;

/** Values are escaped by the driver, never by hand. */
export type Statement = { text: string; values: ParameterValue[] };

/** Frequent statements, each prepared once a connection, on connections that nothing else uses. */
export type PreparedStatements = {
  /**
   * Runs one statement in autocommit.
   * @param msMax time limit: then the connection is closed and the promise rejects; the statement may have been committed.
   */
  execute(text: string, values: ParameterValue[], msMax: number): Promise<void>;
  /**
   * Runs statements in one transaction, in one round trip. They are not prepared: no prepared text holds several.
   * @param msMax as of `execute`.
   * @returns the result of each statement, as the driver gives it.
   * @throws the error of the first that failed; all are rolled back.
   */
  transact(statements: Statement[], msMax: number): Promise<unknown[]>;
  countConnections(): PoolCounts;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * Opens connections for prepared statements. Many rows in one prepared INSERT cost half of the same as text: bodies are
 * sent as bytes, and nothing is parsed. The connections are separate, so a worker that uses up the pool delays no commit.
 */
export function openPreparedStatements(
  target: ConnectionTarget,
  connectionLimit: number,
  choice?: HostChoice,
): PreparedStatements {
  const pool = openConnectionPool({ ...target, connectionLimit }, choice, { multipleStatements: true });
  const name = nameDatabase(target);
  return {
    async execute(text, values, msMax) {
      await useConnection({ pool, name, msMax }, values, (connection, writing, end) => {
        statementOf(connection, text, (failure, statement) => {
          if (failure || !statement) return end(failure);
          statement.execute(writing(), (error: unknown) => {
            if (error) forgetAfter(error, connection, text);
            end(error);
          });
        });
      });
    },
    async transact(statements, msMax) {
      const text = ['BEGIN', ...statements.map((one) => one.text), 'COMMIT'].join(';\n');
      const values = statements.flatMap((one) => one.values);
      const results = await useConnection({ pool, name, msMax }, values, (connection, writing, end) => {
        connection.query(text, writing(), (error, answers) => {
          if (!error || (error as { fatal?: boolean }).fatal) return end(error, answers);
          connection.rollback(() => end(error));
        });
      });
      // the driver gives one answer for each statement
      return (results as unknown[]).slice(1, -1);
    },
    countConnections: () => pool.countConnections(),
    [Symbol.asyncDispose]: () => new Promise((resolve) => pool.end(() => resolve())),
  };
}

type Pool = { pool: ReturnType<typeof openConnectionPool>; name: string; msMax: number };
type Use = (
  connection: PoolConnection,
  values: () => ParameterValue[],
  end: (error: unknown, result?: unknown) => void,
) => void;

/** Gives `use` a connection until it calls `end`. After `msMax` the connection is closed, and the promise rejects. */
function useConnection({ pool, name, msMax }: Pool, values: ParameterValue[], use: Use): Promise<unknown> {
  // cleared once settled: mysql2 keeps callbacks that wait for a connection, also after a time-out
  let writing = values;
  return new Promise((resolve, reject) => {
    let held: PoolConnection | undefined;
    let settled = false;
    const settle = (error: unknown, result?: unknown): void => {
      if (settled) return;
      settled = true;
      writing = [];
      clearTimeout(late);
      if (error) reject(error);
      else resolve(result);
    };
    const late = setTimeout(() => {
      settle(new ConfereError('unavailable', `a statement took longer than ${msMax} ms (${name})`));
      held?.destroy();
    }, msMax);
    pool.getConnection((unavailable, connection) => {
      if (unavailable) return settle(unavailable);
      if (settled) return connection.release();
      held = connection;
      use(
        connection,
        () => writing,
        (error, result) => {
          if (!settled) connection.release();
          settle(error, result);
        },
      );
    });
  });
}

const statements = new WeakMap<PoolConnection, Map<string, PrepareStatementInfo>>();

/** The server may have dropped the statement: prepare it again on next use. After a duplicate key it is still valid. */
function forgetAfter(error: unknown, connection: PoolConnection, text: string): void {
  const { errno, fatal } = error as { errno?: number; fatal?: boolean };
  // a lost connection has lost its statements too
  if (errno === undefined || fatal === true || isDuplicateKey(error)) return;
  statements.get(connection)?.delete(text);
  // also removes it from mysql2's own cache, which would return it again
  connection.unprepare(text);
}

/** Prepares a text at its first use on a connection. Cached here: mysql2 builds a cache key of the whole text each time. */
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
