import { type Kysely, sql } from 'kysely';
import type { PoolCounts } from '../../../embedded/count-connections.ts';
import type { Reading } from '../../metrics/reading.ts';
import type { Database } from '../tables.ts';

type Pools = {
  countConnections(): PoolCounts;
  countLedgerConnections(): PoolCounts;
  preparedStatements: { countConnections(): PoolCounts };
};

/** The database connections of this process. */
export async function readPoolMetrics(pools: Pools): Promise<Reading[]> {
  const counted = [
    { labels: { pool: 'general' }, counts: pools.countConnections() },
    { labels: { pool: 'ledger' }, counts: pools.countLedgerConnections() },
    { labels: { pool: 'receiver' }, counts: pools.preparedStatements.countConnections() },
  ];
  const each = (count: (counts: PoolCounts) => number) =>
    counted.map(({ labels, counts }) => ({ labels, value: count(counts) }));
  return [
    {
      name: 'confere_database_connections',
      help: 'Database connections of this process by pool (receiver: stores webhooks; ledger: applies observations) and state: in_use, idle.',
      values: counted.flatMap(({ labels, counts }) => [
        { labels: { ...labels, state: 'in_use' }, value: counts.inUse },
        { labels: { ...labels, state: 'idle' }, value: counts.idle },
      ]),
    },
    {
      name: 'confere_database_connections_limit',
      help: 'How many database connections this process may open.',
      values: each(({ max }) => max),
    },
    {
      name: 'confere_database_connections_waiting',
      help: 'Callers of this process that wait for a database connection.',
      values: each(({ waiting }) => waiting),
    },
  ];
}

/** Lock waits of the whole server, also those of its other databases. */
export async function readLockMetrics({ db }: { db: Kysely<Database> }): Promise<Reading[]> {
  const { rows } = await sql<{ Variable_name: string; Value: string }>`
    SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_row_lock_waits', 'Innodb_row_lock_time')`.execute(db);
  const of = (name: string): number => Number(rows.find((row) => row.Variable_name === name)?.Value ?? 0);
  return [
    {
      name: 'confere_database_lock_waits_total',
      help: 'Row locks that transactions of the database server had to wait for.',
      type: 'counter',
      values: of('Innodb_row_lock_waits'),
    },
    {
      name: 'confere_database_lock_wait_seconds_total',
      help: 'Time that transactions of the database server waited for row locks.',
      type: 'counter',
      values: of('Innodb_row_lock_time') / 1000,
    },
  ];
}
