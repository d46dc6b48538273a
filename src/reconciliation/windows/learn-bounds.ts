/**
 * How the dates of the provider's list bound a range. Learnt once from ended days that were read completely, by asking
 * for the range from one of them to the next and holding the answer against what each reading of the dates would give;
 * only an answer that fits exactly one is kept. Checked again by the weekly read: bounds that do not fit any more are
 * forgotten, and days are asked for a day wider until new ones are learnt.
 */
import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import { readOrCreateSetting, readSetting } from '../../database/keys/settings.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import type { ProviderClient } from '../../provider/client.ts';
import type { SeenRows } from '../../provider/list/seen-rows.ts';
import type { ListBounds } from './plan-windows.ts';

const SETTING = 'list_bounds';

export async function readBounds(context: Context): Promise<ListBounds | undefined> {
  const stored = await readSetting(context.db, SETTING);
  return stored ? (JSON.parse(stored.toString()) as ListBounds) : undefined;
}

/** @param ids what a complete reading saw, with the wall clock of its creation. */
export async function learnBounds(context: Context, client: ProviderClient, ids: SeenRows): Promise<void> {
  const today = context.calendar.dayOf(context.clock.now());
  const asked = await askBounds(client, countByDay(ids, today));
  if (!asked?.bounds) return;
  const { bounds, pair } = asked;
  await readOrCreateSetting(context.db, SETTING, () => Buffer.from(JSON.stringify(bounds)));
  context.log.info({ bounds, ...pair }, "learnt how the dates of the provider's list bound a range");
}

/** Holds the stored bounds against what the provider answers today, by the ledger's own days of the range. */
export async function checkBounds(
  context: Context,
  client: ProviderClient,
  range: { from: Day; to: Day },
): Promise<void> {
  const bounds = await readBounds(context);
  if (!bounds) return;
  const asked = await askBounds(client, await countLedger(context, range));
  if (!asked || (asked.bounds?.low === bounds.low && asked.bounds.high === bounds.high)) return;
  await context.db.deleteFrom('settings').where('name', '=', SETTING).execute();
  context.log.warn({ bounds, ...asked.pair }, "the dates of the provider's list bound a range otherwise than learnt");
}

type Pair = { first: Day; last: Day };

async function askBounds(client: ProviderClient, counts: Map<Day, number>) {
  // two days that follow each other: whichever of them the answer holds is told by its rows, equal counts or not
  const [first, last] = [...counts.keys()].sort();
  if (first === undefined || last === undefined) return undefined;
  const page = await client.listPage({ initialDate: first, finalDate: last }, 1);
  if (!page) return undefined;
  const days = page.rows.flatMap((row) => (row.ok ? [row.transaction.createdWall.slice(0, 10)] : []));
  const pair: Pair = { first, last };
  return { pair, bounds: fitBounds(counts, pair, { total: page.total, days }) };
}

/** The one reading of the dates that gives this answer; undefined when none or several do. Pure. */
export function fitBounds(
  counts: Map<Day, number>,
  { first, last }: Pair,
  answer: { total: number; days: Day[] },
): ListBounds | undefined {
  const sides = ['inclusive', 'exclusive'] as const;
  const readings = sides.flatMap((low) => sides.map((high): ListBounds => ({ low, high })));
  const fitting = readings.filter((bounds) => {
    const holds = (day: Day): boolean =>
      (bounds.low === 'inclusive' ? day >= first : day > first) &&
      (bounds.high === 'inclusive' ? day <= last : day < last);
    const total = [...counts].reduce((sum, [day, count]) => sum + (holds(day) ? count : 0), 0);
    return total === answer.total && answer.days.every(holds);
  });
  return fitting.length === 1 ? fitting[0] : undefined;
}

function countByDay(ids: SeenRows, before: Day): Map<Day, number> {
  const counts = new Map<Day, number>();
  for (const { wall } of ids.entries()) {
    const day = wall?.slice(0, 10);
    if (day !== undefined && day < before) counts.set(day, (counts.get(day) ?? 0) + 1);
  }
  return counts;
}

async function countLedger(context: Context, { from, to }: { from: Day; to: Day }): Promise<Map<Day, number>> {
  const today = context.calendar.dayOf(context.clock.now());
  const end = to < today ? addDays(to, 1) : today;
  const day = sql<string>`LEFT(created_wall, 10)`;
  const rows = await context.db
    .selectFrom('transactions')
    .select([day.as('day'), (eb) => eb.fn.countAll<number>().as('count')])
    .where('created_wall', '>=', `${from} 00:00:00`)
    .where('created_wall', '<', `${end} 00:00:00`)
    .groupBy(day)
    .execute();
  return new Map(rows.map((row) => [row.day, Number(row.count)]));
}
