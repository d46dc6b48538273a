import type { Pool } from 'mysql2';

/** `inUse` and `idle` connections are open or being opened; `waiting` callers wait for one. */
export type PoolCounts = { inUse: number; idle: number; waiting: number; max: number };

/** The lists of a mysql2 pool. */
type PoolLists = Record<'_allConnections' | '_freeConnections' | '_connectionQueue', { length: number }>;

/** Counts the connections of these pools together. */
export function countConnections(pools: Pool[]): PoolCounts {
  const sum = (count: (lists: PoolLists, pool: Pool) => number): number =>
    // cast: the lists are not in mysql2's types
    pools.reduce((total, pool) => total + count(pool as unknown as PoolLists, pool), 0);
  const idle = sum((lists) => lists._freeConnections.length);
  return {
    inUse: sum((lists) => lists._allConnections.length) - idle,
    idle,
    waiting: sum((lists) => lists._connectionQueue.length),
    max: Math.max(...pools.map((pool) => pool.config.connectionLimit ?? 0)),
  };
}
