import mysql from 'mysql2/promise';
import { type ConnectionTarget, listHosts, nameHost, poolOptions } from './open-database.ts';

/**
 * Chooses the first host that answers, and waits until it has applied all that the cluster had committed before the call
 * (Galera). Programs beside our own connections use it: they do not fail over.
 * @param agreed the name of the host that all processes write to, where they agreed on one: it is tried first.
 * @throws the error of the last host, if none answers.
 */
export async function chooseHost<Target extends ConnectionTarget>(target: Target, agreed?: string): Promise<Target> {
  let failure: unknown;
  const isAgreed = (host: ConnectionTarget): boolean => nameHost(host) === agreed;
  for (const host of listHosts(target).toSorted((a, b) => Number(isAgreed(b)) - Number(isAgreed(a)))) {
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
