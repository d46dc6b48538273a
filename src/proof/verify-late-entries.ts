import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { ReportBreak } from './collect-breaks.ts';

/** Maximum rows of a group of seals, or of orphaned ones: more than this is broken already. */
const ROWS_MAX = 20_000;

/** Returns the recorded late entries by position. */
export async function readLateEntries(context: Context, from: number, to: number): Promise<Map<number, Set<number>>> {
  const rows = await context.db
    .selectFrom('seal_stragglers')
    .select(['entry_seq', 'position'])
    .where('position', '>=', from)
    .where('position', '<=', to)
    .limit(ROWS_MAX)
    .execute();
  const groups = Map.groupBy(rows, (row) => row.position);
  return new Map([...groups].map(([position, same]) => [position, new Set(same.map((row) => row.entry_seq))]));
}

/**
 * Verifies the columns of a seal that its hash does not cover: the number of its members, and which came late. Balances
 * as known earlier and the cuts of reports depend on both. Pure.
 * @param before the highest number sealed before it: members up to it are late.
 */
export function verifyCounts(
  row: { entries: number; stragglers: number },
  { members, before, recorded = new Set() }: { members: number[]; before: number; recorded?: Set<number> | undefined },
): string[] {
  const late = new Set(members.filter((seq) => seq <= before));
  const faults: string[] = [];
  if (row.entries !== members.length || row.stragglers !== late.size) {
    const [counted, named] = [`${row.entries} entries, ${row.stragglers} late`, `${members.length}, ${late.size} late`];
    faults.push(`it counts ${counted}, and names ${named}`);
  }
  const [unrecorded] = late.difference(recorded);
  if (unrecorded !== undefined) faults.push(`seal_stragglers does not say that en_${unrecorded} came late`);
  const [wrong] = recorded.difference(late);
  if (wrong !== undefined) faults.push(`seal_stragglers says that en_${wrong} came late, and it did not`);
  return faults;
}

/**
 * Reports late entries recorded for seals that do not exist: an earlier cut would omit such an entry.
 * @param after the position after which to search.
 */
export async function verifyNoOrphanedLateEntries(context: Context, after: number, report: ReportBreak): Promise<void> {
  const { rows } = await sql<{ entry_seq: number; position: number }>`
    SELECT late.entry_seq, late.position FROM seal_stragglers late LEFT JOIN seals ON seals.position = late.position
    WHERE late.position > ${after} AND seals.position IS NULL ORDER BY late.position LIMIT ${sql.lit(ROWS_MAX)}`.execute(
    context.db,
  );
  for (const { entry_seq: seq, position } of rows) {
    report({ scope: `seal ${position}`, says: `seal_stragglers names en_${seq} of it, and it is not there` });
  }
}
