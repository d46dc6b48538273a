import { sql } from 'kysely';
import type { Reader } from '../database/reader.ts';
import { UNRESOLVED_STATES } from '../domain/mismatch.ts';
import { sumStakeInSql } from './stake.ts';

const CAUSES_MAX = 100;

export type OpenCause = {
  kind: string;
  severity: string;
  /** The scope of its alert: a run, or a severity and an hour; null for mismatches without an alert. */
  cause: string | null;
  /** The run, if the cause is one. */
  run_id: string | null;
  count: number;
  acknowledged: number;
  /** Sum at stake: see `stakeInSql`. */
  stakeCents: bigint;
  first_at: Date;
  last_at: Date;
};

/** Unresolved mismatches by kind and cause, the most severe and the most frequent first; at most 100. */
export async function readOpenCauses(db: Reader, kind?: string): Promise<OpenCause[]> {
  const rows = await db
    .selectFrom('mismatches')
    .leftJoin('mismatch_causes', (join) =>
      join.onRef('mismatch_seq', '=', 'mismatches.seq').onRef('alert_name', '=', 'mismatches.kind'),
    )
    .leftJoin('runs', 'runs.id', 'alert_scope')
    .select(['kind', 'severity', 'alert_scope as cause', 'runs.id as run_id'])
    .select((eb) => [
      eb.fn.countAll<number>().as('count'),
      eb.fn.min('opened_at').as('first_at'),
      eb.fn.max('opened_at').as('last_at'),
    ])
    .select(sql<string>`SUM(mismatches.state = 'acknowledged')`.as('acknowledged'))
    .select(sumStakeInSql().as('stake_cents'))
    .where('mismatches.state', 'in', UNRESOLVED_STATES)
    .$if(kind !== undefined, (query) => query.where('kind', '=', kind ?? ''))
    .groupBy(['kind', 'severity', 'alert_scope', 'runs.id'])
    .orderBy(sql`FIELD(severity, 'critical', 'high', 'medium')`)
    .orderBy('count', 'desc')
    .limit(CAUSES_MAX)
    .execute();
  return rows.map(({ stake_cents: stakeCents, ...row }) => ({
    ...row,
    stakeCents,
    count: Number(row.count),
    acknowledged: Number(row.acknowledged),
  }));
}
