import mysql from 'mysql2/promise';
import { type ConnectionTarget, listHosts, poolOptions } from './open-database.ts';

/**
 * Chooses the first host that answers, and waits until it has applied all that the cluster had committed before the call
 * (Galera). Programs beside our own connections use it: they do not fail over.
 * @throws the error of the last host, if none answers.
 */
export async function chooseHost<Target extends ConnectionTarget>(target: Target): Promise<Target> {
  let failure: unknown;
  for (const host of listHosts(target)) {
    try {
      const connection = await mysql.createConnection(poolOptions(host));
      try {
        // a server without clusters does not know the variable
        await connection.query('SET SESSION wsrep_sync_wait = 1').catch(() => undefined);
        await connection.query('SELECT 1');
      } finally {
        connection.destroy();
      }
      return host as Target;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}
