import { sql } from 'kysely';
import type { Context } from '../../src/context.ts';
import { eventually } from './eventually.ts';

/**
 * Resolves when `count` transactions of this context's database wait for a lock. It reads SHOW ENGINE INNODB STATUS, because
 * information_schema.INNODB_TRX is refreshed only if nobody on the server has read it for 0.1 s.
 */
export async function waitForLockWaits({ db }: Context, count = 1): Promise<void> {
  await eventually(`${count} transactions wait for a lock`, async () => {
    const connections = await sql<{ id: number }>`SELECT id FROM information_schema.PROCESSLIST
      WHERE db = DATABASE()`.execute(db);
    const ours = new Set(connections.rows.map((row) => Number(row.id)));
    const { rows } = await sql<{ Status: string }>`SHOW ENGINE INNODB STATUS`.execute(db);
    const waiting = (rows[0]?.Status ?? '')
      .split('---TRANSACTION')
      .filter((one) => one.includes('LOCK WAIT') && ours.has(Number(/thread id (\d+)/.exec(one)?.[1])));
    return waiting.length >= count;
  });
}
