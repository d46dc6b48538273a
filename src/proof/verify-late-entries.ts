import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { ReportBreak } from './collect-breaks.ts';

/** So many at most in a group of positions, or of positions that are not there: more are broken already. */
const ROWS_MAX = 20_000;

/** What is written down of entries that were sealed late, by position. */
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
 * What a position says of its members beside their list, which alone its hash covers: how many there are, and which of
 * them are late, as balances of then and cuts of reports are told by. Pure.
 * @param before the highest number that was sealed before it: members up to there are late.
 */
export function verifyCounts(
  row: { entries: number; stragglers: number },
  { members, before, told = new Set() }: { members: number[]; before: number; told?: Set<number> | undefined },
): string[] {
  const late = new Set(members.filter((seq) => seq <= before));
  const faults: string[] = [];
  if (row.entries !== members.length || row.stragglers !== late.size) {
    const [counted, named] = [`${row.entries} entries, ${row.stragglers} late`, `${members.length}, ${late.size} late`];
    faults.push(`it counts ${counted}, and names ${named}`);
  }
  const [untold] = late.difference(told);
  if (untold !== undefined) faults.push(`seal_stragglers does not say that en_${untold} came late`);
  const [wrong] = told.difference(late);
  if (wrong !== undefined) faults.push(`seal_stragglers says that en_${wrong} came late, and it did not`);
  return faults;
}

/** What is told of positions that are not there: a cut before them would leave the entry out. */
export async function verifyNoOrphanedLateEntries(context: Context, tell: ReportBreak): Promise<void> {
  const { rows } = await sql<{ entry_seq: number; position: number }>`
    SELECT late.entry_seq, late.position FROM seal_stragglers late LEFT JOIN seals ON seals.position = late.position
    WHERE seals.position IS NULL ORDER BY late.position LIMIT ${sql.lit(ROWS_MAX)}`.execute(context.db);
  for (const { entry_seq: seq, position } of rows) {
    tell({ scope: `seal ${position}`, says: `seal_stragglers names en_${seq} of it, and it is not there` });
  }
}
