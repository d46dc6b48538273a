import { randomBytes } from 'node:crypto';
import mysql, { type ConnectionOptions, type RowDataPacket } from 'mysql2';
import { type EndIdleSessions, PROBE_TIMEOUT_MS } from './detect-unresponsive-host.ts';

type Session = RowDataPacket & { id: number; command: string; info: string | null };

/**
 * Asks on a connection of its own. A proxy in between numbers connections itself: then the server's list does not have this
 * connection, with the text of its own query, under the number that it was given, and nothing is ended.
 */
export function endIdleSessions(options: ConnectionOptions): EndIdleSessions {
  return (ids, isLost, callback) => {
    const connection = mysql.createConnection(options);
    let isSettled = false;
    const settle = (idle: number[]): void => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(late);
      connection.destroy();
      callback(new Set(idle));
    };
    const late = setTimeout(() => settle([]), PROBE_TIMEOUT_MS);
    // the query fails too
    connection.on('error', () => undefined);
    const token = randomBytes(8).toString('hex');
    connection.query<Session[]>(
      `SELECT ID AS id, COMMAND AS command, INFO AS info FROM information_schema.PROCESSLIST WHERE '${token}' <> ''`,
      (error, rows) => {
        const own = error ? undefined : rows.find(({ id }) => id === connection.threadId);
        if (error || !own?.info?.includes(token)) return settle([]);
        const idle = rows.filter(({ id, command }) => command === 'Sleep' && ids.includes(id)).map(({ id }) => id);
        const lost = idle.filter(isLost);
        let left = lost.length;
        if (left === 0) return settle(idle);
        // one that has ended meanwhile is no error to us
        for (const id of lost)
          connection.query(`KILL CONNECTION ${id}`, () => {
            if (--left === 0) settle(idle);
          });
      },
    );
  };
}
