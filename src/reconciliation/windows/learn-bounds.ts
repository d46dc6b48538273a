/**
 * Learns how the dates of the provider's list bound a range, once, from ended days that were read completely. It queries
 * the range of two such days and compares the answer with each interpretation of the dates. Only an answer that fits
 * exactly one is stored. The weekly run checks the bounds again. Bounds that no longer fit are deleted, and days are
 * queried a day wider until new ones are learnt.
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
  // written by learnBounds alone
  return stored ? (JSON.parse(stored.toString()) as ListBounds) : undefined;
}

/** @param ids the rows of a complete reading. */
export async function learnBounds(context: Context, client: ProviderClient, ids: SeenRows): Promise<void> {
  const today = context.calendar.dayOf(context.clock.now());
  const answer = await queryBounds(client, countByDay(ids, today));
  if (!answer?.bounds) return;
  const { bounds, pair } = answer;
  await readOrCreateSetting(context.db, SETTING, () => Buffer.from(JSON.stringify(bounds)));
  context.log.info({ bounds, ...pair }, "learnt how the dates of the provider's list bound a range");
}

/** Compares the stored bounds with a new answer of the provider, by the ledger's own days of the range. */
export async function checkBounds(
  context: Context,
  client: ProviderClient,
  range: { from: Day; to: Day },
): Promise<void> {
  const bounds = await readBounds(context);
  if (!bounds) return;
  const answer = await queryBounds(client, await countLedger(context, range));
  if (!answer || (answer.bounds?.low === bounds.low && answer.bounds.high === bounds.high)) return;
  await context.db.deleteFrom('settings').where('name', '=', SETTING).execute();
  context.log.warn(
    { bounds, ...answer.pair },
    "the dates of the provider's list no longer bound a range as learnt; querying days wider until they are learnt again",
  );
}

type Pair = { first: Day; last: Day };

async function queryBounds(client: ProviderClient, counts: Map<Day, number>) {
  // two consecutive days: the rows of the answer show which of them it holds, also where their counts are equal
  const [first, last] = [...counts.keys()].sort();
  if (first === undefined || last === undefined) return undefined;
  const page = await client.listPage({ initialDate: first, finalDate: last }, 1);
  if (!page) return undefined;
  const days = page.rows.flatMap((row) => (row.ok ? [row.transaction.createdWall.slice(0, 10)] : []));
  const pair: Pair = { first, last };
  return { pair, bounds: fitBounds(counts, pair, { total: page.total, days }) };
}

/** The one interpretation of the dates that gives this answer; undefined when none or several do. Pure. */
export function fitBounds(
  counts: Map<Day, number>,
  { first, last }: Pair,
  answer: { total: number; days: Day[] },
): ListBounds | undefined {
  const sides = ['inclusive', 'exclusive'] as const;
  const candidates = sides.flatMap((low) => sides.map((high): ListBounds => ({ low, high })));
  const fitting = candidates.filter((bounds) => {
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
