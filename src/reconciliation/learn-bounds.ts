import type { Context } from '../context.ts';
import { readSetting, settle } from '../database/settings.ts';
import type { Day, Wall } from '../domain/calendar.ts';
import type { ProviderClient } from '../provider/client.ts';
import type { ListBounds } from './plan-windows.ts';

const SETTING = 'list_bounds';

export async function readBounds(context: Context): Promise<ListBounds | undefined> {
  const stored = await readSetting(context.db, SETTING);
  return stored ? (JSON.parse(stored.toString()) as ListBounds) : undefined;
}

/**
 * Learns from ended days that were just read completely how the provider's dates bound a range: asks for the range from
 * one of those days to another, and compares its total with what each reading of the dates would give. Only an answer
 * that fits exactly one of them is kept.
 */
export async function learnBounds(
  context: Context,
  client: ProviderClient,
  ids: Map<string, Wall | undefined>,
): Promise<void> {
  const today = context.calendar.dayOf(context.clock.now());
  const counts = countByDay(ids, today);
  const days = [...counts.keys()].sort();
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined || first === last) return;
  const page = await client.listPage({ initialDate: first, finalDate: last }, 1);
  const bounds = page && fitBounds(counts, first, last, page.total);
  if (!bounds) return;
  await settle(context.db, SETTING, () => Buffer.from(JSON.stringify(bounds)));
  context.log.info({ bounds, first, last }, "learnt how the dates of the provider's list bound a range");
}

/** The one reading of the dates that gives this total; undefined when none or several do. Pure. */
export function fitBounds(counts: Map<Day, number>, first: Day, last: Day, total: number): ListBounds | undefined {
  const all = [...counts].filter(([day]) => day >= first && day <= last).reduce((sum, [, count]) => sum + count, 0);
  const [atFirst, atLast] = [counts.get(first) ?? 0, counts.get(last) ?? 0];
  const readings: { bounds: ListBounds; total: number }[] = [
    { bounds: { low: 'inclusive', high: 'inclusive' }, total: all },
    { bounds: { low: 'exclusive', high: 'inclusive' }, total: all - atFirst },
    { bounds: { low: 'inclusive', high: 'exclusive' }, total: all - atLast },
    { bounds: { low: 'exclusive', high: 'exclusive' }, total: all - atFirst - atLast },
  ];
  const fitting = readings.filter((reading) => reading.total === total);
  return fitting.length === 1 ? fitting[0]?.bounds : undefined;
}

function countByDay(ids: Map<string, Wall | undefined>, before: Day): Map<Day, number> {
  const counts = new Map<Day, number>();
  for (const wall of ids.values()) {
    const day = wall?.slice(0, 10);
    if (day !== undefined && day < before) counts.set(day, (counts.get(day) ?? 0) + 1);
  }
  return counts;
}
