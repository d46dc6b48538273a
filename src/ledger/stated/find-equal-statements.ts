import type { Reader } from '../../database/reader.ts';
import type { WallTime } from '../../domain/calendar.ts';

type Stated = { platform: string; atWall: WallTime; balanceCents: bigint };

/** For each of these, the newest statement of the same platform, second and balance; undefined without one. */
export async function findEqualStatements(db: Reader, given: readonly Stated[]) {
  if (given.length === 0) return [];
  const rows = await db
    .selectFrom('statements')
    .select(['id', 'platform', 'at_wall', 'balance_cents', 'actor', 'created_at'])
    .where('platform', 'in', [...new Set(given.map(({ platform }) => platform))])
    .where('at_wall', 'in', [...new Set(given.map(({ atWall }) => atWall))])
    .orderBy('seq')
    .execute();
  const newest = new Map(rows.map((row) => [`${row.platform} ${row.at_wall} ${row.balance_cents}`, row]));
  return given.map(({ platform, atWall, balanceCents }) => newest.get(`${platform} ${atWall} ${balanceCents}`));
}

/** Row number of the newest statement; 0 without one. */
export async function readNewestStatement(db: Reader): Promise<number> {
  const row = await db.selectFrom('statements').select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  return row?.seq ?? 0;
}
