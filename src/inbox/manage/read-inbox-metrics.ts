import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { byLabel, type Reading, secondsSince } from '../../metrics/reading.ts';

/** Applied ones are not counted: they are nearly all rows of the table. */
const STATES = ['received', 'pending', 'quarantined'];

/** The backlog of the verification. */
export async function readInboxMetrics({ db, clock }: Context): Promise<Reading[]> {
  const now = clock.now();
  const counts = await db
    .selectFrom('webhooks')
    .select(['state', (eb) => eb.fn.countAll<number>().as('count')])
    .where('state', 'in', STATES)
    .groupBy('state')
    .execute();
  // one statement: of two counts at two moments the difference may be below 0
  const items = await db
    .selectFrom('webhook_items')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .select(sql<number>`COALESCE(SUM(next_look_at <= ${now}), 0)`.as('due'))
    .where('state', '=', 'pending')
    .executeTakeFirst();
  const [count, due] = [Number(items?.count ?? 0), Number(items?.due ?? 0)];
  const backlog = new Map([
    ['due', due],
    ['scheduled', count - due],
  ]);
  return [
    {
      name: 'confere_webhooks',
      help: 'Webhooks by state: received (not split into items yet), pending, quarantined.',
      values: byLabel('state', STATES, new Map(counts.map((row) => [row.state, Number(row.count)]))),
    },
    {
      name: 'confere_webhook_items_pending',
      help: 'Items of webhooks that are not verified yet: due (the backlog), scheduled for a later fetch.',
      values: byLabel('fetch', ['due', 'scheduled'], backlog),
    },
    {
      name: 'confere_webhook_verification_overdue_seconds',
      help: 'Time for which the oldest webhook waits for its first answered fetch, or an item for a fetch that is due; 0 without one.',
      values: secondsSince(await findOldestUnverified(db, now), now),
    },
  ];
}

/**
 * Since when the verification is late: the arrival of the oldest webhook that is not split yet or whose first fetch was not
 * answered, or the time at which the oldest item was due. A failed fetch only defers the next one.
 */
export async function findOldestUnverified(db: Reader, now: Date): Promise<Date | undefined> {
  const received = await db
    .selectFrom('webhooks')
    .select('received_at as at')
    .where('state', '=', 'received')
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  const pending = () => db.selectFrom('webhook_items').where('state', '=', 'pending');
  const due = await pending()
    .select('next_look_at as at')
    .where('next_look_at', '<=', now)
    .orderBy('next_look_at')
    .limit(1)
    .executeTakeFirst();
  // by index alone; rows are in the order of arrival
  const first = pending()
    .select((eb) => eb.fn.min('seq').as('seq'))
    .where('looks', '=', 0);
  const unanswered = await db
    .selectFrom('webhook_items')
    .select('received_at as at')
    .where('seq', '=', first)
    .executeTakeFirst();
  const [oldest] = [received?.at, due?.at, unanswered?.at]
    .flatMap((at) => at ?? [])
    .sort((a, b) => a.getTime() - b.getTime());
  return oldest;
}
