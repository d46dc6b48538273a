/**
 * How reliably the provider announces its changes, by the day of the change: how many webhooks were expected, how many
 * did not arrive in time, and how late the others were. A change that Confere learnt from a webhook was announced by it.
 * For all other changes the watch has found out (owed_webhooks).
 */
import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import { addDays, type Day, type WallTime } from '../../domain/calendar.ts';

export type WebhookDayStats = Awaited<ReturnType<typeof countDay>>;

/** The share of lost webhooks among those whose grace is over, such as `0.0123`; null where there are none. */
export function lossRate({ announced, lost }: WebhookDayStats): string | null {
  const over = announced + lost;
  // counts of webhooks, not money
  return over === 0 ? null : (lost / over).toFixed(4);
}

/** Counts a day by reading all its changes. */
export async function countDay(context: Context, day: Day) {
  const [start, end] = [context.calendar.startOfDay(day), context.calendar.endOfDay(day)];
  const within = () =>
    context.db.selectFrom('owed_webhooks').where('event_at', '>=', start).where('event_at', '<', end);
  const owed = await within()
    .select(sql<string | null>`SUM(settled_at IS NULL)`.as('waiting'))
    .select(sql<string | null>`SUM(settled_at IS NOT NULL AND announced_at IS NULL)`.as('lost'))
    .executeTakeFirstOrThrow();
  const late = sql<number>`GREATEST(TIMESTAMPDIFF(SECOND, event_at, announced_at), 0)`.as('late');
  const found = await within()
    .select([late, (eb) => eb.fn.countAll<number>().as('count')])
    .where('announced_at', 'is not', null)
    .groupBy('late')
    .execute();
  const delays = [...found, ...(await countLearnt(context, day, start))].map((row) => ({
    late: Number(row.late),
    count: Number(row.count),
  }));
  return {
    day,
    announced: delays.reduce((sum, row) => sum + row.count, 0),
    // no webhook arrived within WEBHOOK_GRACE
    lost: Number(owed.lost ?? 0),
    // expected webhooks whose grace is not over yet
    waiting: Number(owed.waiting ?? 0),
    lateS: summarise(delays),
  };
}

/** Changes of the day that were learnt from their own webhook, by how many seconds it was late. */
async function countLearnt(context: Context, day: Day, start: Date) {
  // a wall clock read as UTC is off by the zone's offset on that day
  const offsetS = (start.getTime() - Date.parse(`${day}T00:00:00Z`)) / 1000;
  return await selectLearnt(context, `${day} 00:00:00`, `${addDays(day, 1)} 00:00:00`)
    .innerJoin('webhooks', 'webhooks.seq', 'events.source_webhook_seq')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .select(
      sql<number>`GREATEST(TIMESTAMPDIFF(SECOND, events.at_wall, webhooks.received_at) - ${offsetS}, 0)`.as('late'),
    )
    .groupBy('late')
    .execute();
}

/** Changes that owed a webhook and were learnt from it, from a wall time to before another one. */
function selectLearnt(context: Context, from: WallTime, to: WallTime) {
  return context.db
    .selectFrom('events')
    .innerJoin('transactions', 'transactions.seq', 'events.transaction_seq')
    .where('events.at_wall', '>=', from)
    .where('events.at_wall', '<', to)
    .where('events.at_wall', '>=', context.calendar.toWallTime(context.webhooksSince))
    .where('events.source_kind', '=', 'webhook')
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('owed_webhooks')
            .select('owed_webhooks.event_seq')
            .whereRef('owed_webhooks.event_seq', '=', 'events.seq'),
        ),
      ),
    )
    .where(sql<string>`CONCAT(transactions.operation, '.', events.status)`, 'in', [
      ...context.config.WEBHOOKS_OWED,
      '',
    ]);
}

/** How many changes since an instant came without their webhook, and of how many. Those within WEBHOOK_GRACE do not count. */
export async function readRecentLoss(context: Context, since: Date): Promise<{ lost: number; total: number }> {
  const until = new Date(context.clock.now().getTime() - context.config.WEBHOOK_GRACE);
  const owed = await context.db
    .selectFrom('owed_webhooks')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .select(sql<string | null>`SUM(announced_at IS NULL)`.as('lost'))
    .where('event_at', '>=', since)
    .where('event_at', '<', until)
    .where('settled_at', 'is not', null)
    .executeTakeFirstOrThrow();
  const { calendar } = context;
  const learnt = await selectLearnt(context, calendar.toWallTime(since), calendar.toWallTime(until))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return { lost: Number(owed.lost ?? 0), total: Number(owed.total) + Number(learnt.count) };
}

/** Whole seconds from a change to the webhook that announced it; null where none was announced. */
function summarise(delays: { late: number; count: number }[]): { p50: number; p95: number; max: number } | null {
  const sorted = delays.toSorted((a, b) => a.late - b.late);
  const total = sorted.reduce((sum, row) => sum + row.count, 0);
  const last = sorted.at(-1);
  if (!last) return null;
  const at = (percent: number): number => {
    let seen = 0;
    for (const { late, count } of sorted) {
      seen += count;
      if (seen * 100 >= total * percent) return late;
    }
    return last.late;
  };
  return { p50: at(50), p95: at(95), max: last.late };
}
