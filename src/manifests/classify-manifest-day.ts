import type { Context } from '../context.ts';
import { addDays, type Day } from '../domain/calendar.ts';
import { LOOKBACK_DAYS, provesDay } from '../domain/late-days.ts';
import { append } from '../domain/lists.ts';
import { classifyDay } from '../reports/revisions/classify-day.ts';
import { readProofWindows } from '../reports/revisions/read-proof-windows.ts';

/** `proven`: the day was read or counted at the provider after its end. `closed`: so were all days that may change it. */
export type DayFlags = { proven: boolean; closed: boolean };

export async function classifyManifestDay({ db, calendar, clock }: Context, day: Day): Promise<DayFlags> {
  const windows = await readProofWindows(db, { from: day, to: day });
  const { state } = await classifyDay(db, day, clock.now(), calendar);
  return {
    proven: windows.some((window) => provesDay(window, day, calendar.provableFrom(day))),
    closed: state === 'closed',
  };
}

/** Finds manifests of days that were proven or closed since. Older days than the long jobs read stay as they are. */
export async function findImprovedDays(context: Context): Promise<{ merchant_seq: number; day: Day }[]> {
  const { db, calendar, clock } = context;
  const open = await db
    .selectFrom('day_manifests')
    .select('day')
    .distinct()
    .where('is_closed', '=', 0)
    .where('day', '>=', addDays(calendar.dayOf(clock.now()), -LOOKBACK_DAYS))
    .execute();
  const improved: { merchant_seq: number; day: Day }[] = [];
  for (const { day } of open) {
    const { proven, closed } = await classifyManifestDay(context, day);
    const rows = await db
      .selectFrom('day_manifests')
      .select([
        'merchant_seq',
        (eb) => eb.fn.max('is_proven').as('proven'),
        (eb) => eb.fn.max('is_closed').as('closed'),
      ])
      .where('day', '=', day)
      .groupBy('merchant_seq')
      .execute();
    const isBehind = (row: { proven: number; closed: number }): boolean =>
      (proven && row.proven === 0) || (closed && row.closed === 0);
    append(
      improved,
      rows.filter(isBehind).map(({ merchant_seq }) => ({ merchant_seq, day })),
    );
  }
  return improved;
}
