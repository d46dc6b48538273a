import type { Context } from '../../context.ts';
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
  const pending = () => db.selectFrom('webhook_items').where('state', '=', 'pending');
  const items = await pending()
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirst();
  const due = await pending()
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.min('next_look_at').as('oldest')])
    .where('next_look_at', '<=', now)
    .executeTakeFirst();
  const received = await db
    .selectFrom('webhooks')
    .select('received_at')
    .where('state', '=', 'received')
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  const backlog = new Map([
    ['due', Number(due?.count ?? 0)],
    ['scheduled', Number(items?.count ?? 0) - Number(due?.count ?? 0)],
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
      help: 'Time for which the oldest webhook or item that a worker could take has been waiting; 0 without one.',
      values: Math.max(secondsSince(received?.received_at, now), secondsSince(due?.oldest, now)),
    },
  ];
}
