import { sql } from 'kysely';
import type { Reader } from '../../../database/reader.ts';
import { matchesPlatform } from '../../../database/shared/matches-platform.ts';
import type { Day, WallTime } from '../../../domain/calendar.ts';
import { splitList } from '../../../domain/lists.ts';
import {
  type ChangeScope,
  matchesNewEntries,
  matchesNewEvents,
  selectCorrected,
} from '../../read/list-changed-transactions.ts';
import type { CutEntries } from '../../read/read-cut-entries.ts';

const CHUNK_ROWS = 1_000;

/** Lists the days before `scope.end` of which the later cut holds more than the earlier one, the earliest first. */
export async function listChangedDays(db: Reader, scope: Omit<ChangeScope, 'start'>): Promise<Day[]> {
  const { end, platform } = scope;
  const moved = await listMovedDays(db, scope);
  const changed = await db
    .selectFrom('events')
    .innerJoin('transactions', 'transactions.seq', 'events.transaction_seq')
    .select(sql<Day>`LEFT(events.at_wall, 10)`.as('day'))
    .distinct()
    .where('events.at_wall', '<', end)
    .where(matchesNewEvents(scope))
    .$if(platform !== undefined, (query) => query.where(matchesPlatform('transactions.platform', platform ?? '')))
    .execute();
  const corrected = await listDaysOfCorrected(db, scope);
  return [...new Set([...moved, ...changed.map(({ day }) => day), ...corrected])].sort();
}

type MovedScope = { end: WallTime; platform: string | undefined; from: CutEntries; to: CutEntries };

/** Lists the days before `end` with entries that the later cut alone holds, the earliest first. */
export async function listMovedDays(db: Reader, { end, platform, ...cuts }: MovedScope): Promise<Day[]> {
  const rows = await db
    .selectFrom('entries')
    .select(sql<Day>`LEFT(entries.at_wall, 10)`.as('day'))
    .distinct()
    .where('entries.at_wall', '<', end)
    .where(matchesNewEntries(cuts))
    .$if(platform !== undefined, (query) => query.where('entries.platform', '=', platform ?? ''))
    .execute();
  return rows.map(({ day }) => day).sort();
}

/** The days on which the sheets of a month show a transaction whose facts changed: its creation, and its movements. */
async function listDaysOfCorrected(db: Reader, scope: Omit<ChangeScope, 'start'>): Promise<Set<Day>> {
  const rows = await selectCorrected(db, scope).select('transactions.created_wall').execute();
  const days = new Set(rows.map((row) => row.created_wall.slice(0, 10)));
  const seqs = rows.map((row) => row.seq);
  for (const some of splitList(seqs, CHUNK_ROWS)) {
    const entries = await db
      .selectFrom('entries')
      .select(sql<Day>`LEFT(at_wall, 10)`.as('day'))
      .distinct()
      .where('transaction_seq', 'in', some)
      .where('at_wall', '<', scope.end)
      .execute();
    for (const { day } of entries) days.add(day);
  }
  return days;
}
