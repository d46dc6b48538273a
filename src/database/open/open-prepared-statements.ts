import type { PoolConnection, PrepareStatementInfo } from 'mysql2';
import type { PoolCounts } from '../../../embedded/count-connections.ts';
import type { HostChoice } from '../../../embedded/fail-over.ts';
import { type ConnectionTarget, openConnectionPool } from '../../../embedded/open-database.ts';
import { ConfereError } from '../../domain/errors.ts';
import { isDuplicateKey } from '../transact.ts';
import { nameDatabase } from './explain-failure.ts';

export type ParameterValue = string | number | Buffer | Date | null;

/** Frequent statements, each prepared once a connection, on connections that nothing else uses. */
export type PreparedStatements = {
  /**
   * Runs one statement in autocommit.
   * @param msMax time limit: then the connection is closed and the promise rejects; the statement may have been committed.
   */
  execute(text: string, values: ParameterValue[], msMax: number): Promise<void>;
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
  const pool = openConnectionPool({ ...target, connectionLimit }, choice);
  const name = nameDatabase(target);
  return {
    execute(text, values, msMax) {
      // cleared once settled: mysql2 keeps callbacks that wait for a connection, also after a time-out
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
          settle(new ConfereError('unavailable', `a statement took longer than ${msMax} ms (${name})`));
          held?.destroy();
        }, msMax);
        pool.getConnection((unavailable, connection) => {
          if (unavailable) return settle(unavailable);
          if (settled) return connection.release();
          held = connection;
          statementOf(connection, text, (failure, statement) => {
            const end = (error: unknown): void => {
              if (!settled) connection.release();
              settle(error);
            };
            if (failure || !statement) return end(failure);
            statement.execute(writing, (error: unknown) => {
              if (error) forgetAfter(error, connection, text);
              end(error);
            });
          });
        });
      });
    },
    countConnections: () => pool.countConnections(),
    [Symbol.asyncDispose]: () => new Promise((resolve) => pool.end(() => resolve())),
  };
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
