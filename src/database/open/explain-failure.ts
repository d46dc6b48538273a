import { isConnectionLost } from '../../../embedded/lost-connection.ts';
import { MIGRATION_TOO_NEW } from '../../../embedded/migrations/plan-migrations.ts';
import type { ConnectionTarget } from '../../../embedded/open-database.ts';
import { listHosts, nameHost } from '../../../embedded/open-database.ts';
import { readRefusal } from '../../../embedded/watch-refusals.ts';
import { ConfereError, wrongUse } from '../../domain/errors.ts';
import { isServerError, isTransient } from '../transact.ts';

/** A right on a database, a table or a column, or of the server, is missing. Messages quote the user and the table, no values. */
const RIGHT_MISSING_ERRNOS = new Set([1044, 1142, 1143, 1227]);
/** A wrong password, an unknown user, or a user that may not come from this machine. */
const LOGIN_REFUSED_ERRNOS = new Set([1045, 1698]);
/** A limit of server or user. */
const CONNECTIONS_ERRNOS = new Set([1040, 1203, 1226]);
const UNKNOWN_DATABASE_ERRNO = 1049;
const READ_ONLY_CODES = new Set([
  ...['ER_OPTION_PREVENTS_STATEMENT', 'ER_READ_ONLY_MODE', 'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION'],
]);
const AWAY_CODES = new Set([
  ...['ECONNREFUSED', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
  ...['ER_CON_COUNT_ERROR', 'ER_TOO_MANY_USER_CONNECTIONS', 'ER_USER_LIMIT_REACHED'],
  // a server that is read-only, or offline
  ...['ER_SERVER_OFFLINE_MODE', ...READ_ONLY_CODES],
  // a group took another transaction first, eight times in a row
  'ER_TRANSACTION_ROLLBACK_DURING_COMMIT',
]);

/** Whether an error of the database's driver says that the database is unreachable or not ready, or that the connection is lost. */
export function isDatabaseAway(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown };
  if (isConnectionLost(error) || readRefusal(error) !== undefined) return true;
  // of a socket: a file may also be missing
  return AWAY_CODES.has(String(code)) || (code === 'ENOENT' && syscall === 'connect');
}

/** Whether an error is the database's own, and says nothing about the rows of the statement. */
export function isDatabaseFault(error: unknown): boolean {
  return isTransient(error) || isServerError(error) || isDatabaseAway(error);
}

/** Whether the database refuses a write and can be read: it is a replica, or a person has set it so. */
export function isReadOnly(error: unknown): boolean {
  return READ_ONLY_CODES.has(String((error as { code?: unknown } | null)?.code));
}

/** `user app at db1:3306, db2:3306`: who connects to what, for errors and the log. Never the password. */
export function nameDatabase(target: ConnectionTarget): string {
  return `user ${target.user} at ${listHosts(target).map(nameHost).join(', ')}`;
}

export function isRightMissing(error: unknown): boolean {
  return RIGHT_MISSING_ERRNOS.has(errnoOf(error));
}

/**
 * Describes why a database could not be opened, with the user and the host, for errors that an operator can correct.
 * @returns a ConfereError with this error as its cause, or the error itself if it is another one.
 */
export function explainFailure(error: unknown, target: ConnectionTarget & { database: string }): unknown {
  if (error instanceof ConfereError) return error;
  const name = nameDatabase(target);
  const errno = errnoOf(error);
  const invalid = (text: string): ConfereError => new ConfereError('config_invalid', text, { cause: error });
  if ((error as { code?: unknown }).code === MIGRATION_TOO_NEW)
    return wrongUse((error as Error).message, { cause: error });
  if (LOGIN_REFUSED_ERRNOS.has(errno))
    return invalid(
      `the database refuses ${name}: a wrong password, an unknown user, or one that may not connect from here. Correct DATABASE_URL`,
    );
  if (errno === UNKNOWN_DATABASE_ERRNO)
    return invalid(`${name} finds no database ${target.database}: create it, or correct DATABASE_URL`);
  if (isRightMissing(error))
    return invalid(
      `${name} lacks a right (${(error as Error).message}): run what confere migrate --grants prints, as the database's owner`,
    );
  if (CONNECTIONS_ERRNOS.has(errno))
    return new ConfereError(
      'unavailable',
      `the database has too many connections for ${name}: end what holds them, or raise max_connections`,
      { cause: error },
    );
  if (readRefusal(error) !== undefined)
    return new ConfereError(
      'unavailable',
      `no host takes writes for ${name} (${(error as Error).message}): docs/group.md says how a group is founded again`,
      { cause: error },
    );
  if (isDatabaseAway(error))
    return new ConfereError(
      'unavailable',
      `the database is not reached by ${name} (${(error as { code?: string }).code}): start it, or correct DATABASE_URL`,
      { cause: error },
    );
  return error;
}

function errnoOf(error: unknown): number {
  return (error as { errno?: number } | null)?.errno ?? 0;
}
