/** Killed (MariaDB), its server stops, idle for too long (MySQL): the server says so, and closes the connection. */
const LOST_ERRNOS = new Set([1927, 1053, 4031]);
/** The last one: what waits behind a statement after which we closed the connection. */
const LOST_CODES = new Set(['PROTOCOL_CONNECTION_LOST', 'ECONNRESET', 'EPIPE', 'ERR_STREAM_DESTROYED']);

/** Whether an error of mysql2 says that the connection is closed, or that the server is about to close it. */
export function isConnectionLost(error: unknown): boolean {
  const { errno, code, fatal } = (error ?? {}) as { errno?: number; code?: string; fatal?: boolean };
  // mysql2's error on a closed connection: a ROLLBACK after the loss hides the error that closed it
  const isClosed = fatal === true && errno === undefined && code === undefined;
  return isClosed || LOST_ERRNOS.has(errno ?? 0) || LOST_CODES.has(code ?? '');
}
