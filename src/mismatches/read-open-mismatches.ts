import { sql } from 'kysely';
import type { Reader } from '../database/reader.ts';

export type OpenMismatchCount = {
  kind: string;
  severity: string;
  /** Not resolved: open or acknowledged. */
  count: number;
  acknowledged: number;
  /** What their transactions amount to. */
  stakeCents: bigint;
};

const RANKS = ['critical', 'high', 'medium'];

/** What is not resolved, by kind and severity, the gravest first. */
export async function readOpenMismatches(db: Reader, only: { baseline?: boolean } = {}): Promise<OpenMismatchCount[]> {
  const rows = await db
    .selectFrom('mismatches')
    .select(['kind', 'severity', (eb) => eb.fn.countAll<number>().as('count')])
    .select(sql<string>`SUM(state = 'acknowledged')`.as('acknowledged'))
    .select(sql<bigint>`CAST(COALESCE(SUM(amount_cents), 0) AS SIGNED)`.as('stake_cents'))
    .where('state', 'in', ['open', 'acknowledged'])
    .$if(only.baseline === true, (query) => query.where('baseline', '=', 1))
    .groupBy(['kind', 'severity'])
    .execute();
  return rows
    .map((row) => ({
      kind: row.kind,
      severity: row.severity,
      count: Number(row.count),
      acknowledged: Number(row.acknowledged),
      stakeCents: row.stake_cents,
    }))
    .toSorted((a, b) => RANKS.indexOf(a.severity) - RANKS.indexOf(b.severity) || b.count - a.count);
}
