import { sql, type Transaction } from 'kysely';
import type { Database } from '../../database/tables.ts';
import type { Day } from '../../domain/calendar.ts';
import { splitList } from '../../domain/lists.ts';
import { NO_PLATFORM } from '../../domain/platform.ts';
import type { Start, Starts } from '../decide/decide-receipt.ts';
import type { Head } from './lock-expected.ts';

const SELECTS_AT_ONCE = 100;

/**
 * Returns from which day on the receipts of each platform must be somebody's: the first day of issue of its expected payments.
 * Where these heads changed it, it is stored; where it is earlier now, receipts are searched from it again.
 */
export async function updateStarts(trx: Transaction<Database>, heads: Head[]): Promise<Starts> {
  const rows = await trx.selectFrom('expected_starts').selectAll().execute();
  const before = new Map(
    rows.map((row): [string, Start] => [row.platform, { sinceDay: row.since_day, arrivedAt: row.arrived_at }]),
  );
  const receipts = heads.filter(({ operation }) => operation === 'cashin');
  if (receipts.length === 0) return before;
  const after = await readStarts(trx, before, receipts);
  const changed = [...after].filter(([platform, start]) => !isSame(start, before.get(platform)));
  for (const platform of before.keys())
    if (!after.has(platform)) await trx.deleteFrom('expected_starts').where('platform', '=', platform).execute();
  for (const [platform, { sinceDay, arrivedAt }] of changed)
    await sql`REPLACE INTO expected_starts (platform, since_day, arrived_at)
      VALUES (${platform}, ${sinceDay}, ${arrivedAt})`.execute(trx);
  // a platform that is named no more may let those that name none speak
  const isFewer = [...before.keys()].some((platform) => !after.has(platform));
  const earlier = isFewer
    ? [...after]
    : changed.filter(([platform, { sinceDay }]) => isEarlier(sinceDay, before.get(platform)));
  const [first] = earlier.map(([, { sinceDay }]) => sinceDay).sort();
  if (first !== undefined) await searchFrom(trx, first);
  return after;
}

/** Reads the first row of the index of each platform. GROUP BY would read all rows where few platforms have many. */
async function readStarts(trx: Transaction<Database>, before: Starts, heads: Head[]): Promise<Map<string, Start>> {
  const own = Map.groupBy(heads, (head) => head.platform ?? NO_PLATFORM);
  const starts = new Map<string, Start>();
  for (const platforms of splitList([...new Set([...before.keys(), ...own.keys()])], SELECTS_AT_ONCE)) {
    const firsts = platforms.map((platform) => {
      const stored = platform === NO_PLATFORM ? null : platform;
      return sql`(SELECT ${platform} AS platform, issued_day FROM expected_payments
        WHERE operation = 'cashin' AND platform <=> ${stored} ORDER BY issued_day LIMIT 1)`;
    });
    const { rows } = await sql<{ platform: string; issued_day: Day }>`${sql.join(firsts, sql` UNION ALL `)}`.execute(
      trx,
    );
    for (const { platform, issued_day } of rows) {
      const arrivals = (own.get(platform) ?? []).map((head) => head.created_at);
      const [arrivedAt] = [before.get(platform)?.arrivedAt ?? [], arrivals]
        .flat()
        .sort((a, b) => a.getTime() - b.getTime());
      // the first of a platform counts once it is decided itself
      if (arrivedAt) starts.set(platform, { sinceDay: issued_day, arrivedAt });
    }
  }
  return starts;
}

function isSame(one: Start, other: Start | undefined): boolean {
  return one.sinceDay === other?.sinceDay && one.arrivedAt.getTime() === other.arrivedAt.getTime();
}

function isEarlier(sinceDay: Day, before: Start | undefined): boolean {
  return before === undefined || sinceDay < before.sinceDay;
}

async function searchFrom(trx: Transaction<Database>, day: Day): Promise<void> {
  const wall = `${day} 00:00:00`;
  await trx
    .updateTable('expected_following')
    .set({ receipts_wall: wall, receipts_seq: 0 })
    .where((eb) => eb.or([eb('receipts_wall', 'is', null), eb('receipts_wall', '>=', wall)]))
    .execute();
}
