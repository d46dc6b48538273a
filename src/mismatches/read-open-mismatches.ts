import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Reader } from '../database/reader.ts';
import { type MismatchKind, rankSeverity, UNRESOLVED_STATES } from '../domain/mismatch.ts';
import { sumStakeInSql } from './stake.ts';

export type OpenMismatchCount = {
  kind: string;
  severity: string;
  /** Open or acknowledged. */
  count: number;
  acknowledged: number;
  /** Sum at stake: see `stakeInSql`. */
  stakeCents: bigint;
};

/** Counts mismatches that a person resolved while the evidence is the same, with their sum at stake in cents. */
export async function readDecidedMismatches(db: Reader): Promise<{ count: number; cents: bigint }> {
  const row = await db
    .selectFrom('mismatches')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .select(sumStakeInSql().as('stake_cents'))
    .where('kept_scope', 'is not', null)
    .where('resolution', '=', 'by_hand')
    .executeTakeFirstOrThrow();
  return { count: Number(row.count), cents: row.stake_cents };
}

/** Counts the unresolved mismatches that somebody is to decide. @param owner the id of a user or a token. */
export async function countOwnMismatches(db: Reader, owner: string): Promise<number> {
  const row = await db
    .selectFrom('mismatches')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('owner', '=', owner)
    .where('state', 'in', UNRESOLVED_STATES)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Counts unresolved mismatches by kind and severity, most severe first. @param only `days`: see `concernsDays`. */
export async function readOpenMismatches(
  db: Reader,
  only: { baseline?: boolean; kinds?: readonly MismatchKind[]; days?: RawBuilder<SqlBool> } = {},
): Promise<OpenMismatchCount[]> {
  const { kinds, days } = only;
  const rows = await db
    .selectFrom('mismatches')
    .select(['kind', 'severity', (eb) => eb.fn.countAll<number>().as('count')])
    .select(sql<string>`SUM(state = 'acknowledged')`.as('acknowledged'))
    .select(sumStakeInSql().as('stake_cents'))
    .where('state', 'in', UNRESOLVED_STATES)
    .$if(only.baseline === true, (query) => query.where('baseline', '=', 1))
    .$if(kinds !== undefined, (query) => query.where('kind', 'in', kinds ?? []))
    .$if(days !== undefined, (query) => query.where(days ?? sql<SqlBool>`TRUE`))
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
    .toSorted((a, b) => rankSeverity(a.severity) - rankSeverity(b.severity) || b.count - a.count);
}
