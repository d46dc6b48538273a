import { sql } from 'kysely';
import type { Context } from '../../src/context.ts';
import { eventually } from './wait.ts';

/** The server tells of waits anew only where it was not asked for a tenth of a second. */
const ASKED_EVERY_MS = 250;

/** Until so many transactions of this context's database wait for a lock. */
export async function untilItWaits({ db }: Context, count = 1): Promise<void> {
  await eventually(async () => {
    await new Promise((resolve) => setTimeout(resolve, ASKED_EVERY_MS));
    const { rows } = await sql`SELECT 1 FROM information_schema.INNODB_TRX
      JOIN information_schema.PROCESSLIST ON PROCESSLIST.ID = trx_mysql_thread_id
      WHERE trx_state = 'LOCK WAIT' AND DB = DATABASE()`.execute(db);
    return rows.length >= count;
  });
}
