import type { Database, Fate } from '../store/tables.ts';

export type WebhookCounts = {
  total: number;
  due: number;
  delivered: number;
  failed: number;
  lost: number;
  by_fate: Record<Fate, number>;
};

/** Counts the webhooks by state and by fate. */
export async function countWebhooks(db: Database): Promise<WebhookCounts> {
  const rows = await db
    .selectFrom('webhooks')
    .select((eb) => ['fate', 'state', eb.fn.countAll<number>().as('count')])
    .groupBy(['fate', 'state'])
    .execute();
  const by_fate = { sent: 0, lost: 0, repeated: 0, repeat: 0, late: 0, reordered: 0, forged: 0 };
  const counts: WebhookCounts = { total: 0, due: 0, delivered: 0, failed: 0, lost: 0, by_fate };
  for (const { fate, state, count } of rows) {
    counts.total += count;
    counts[state] += count;
    by_fate[fate] += count;
  }
  return counts;
}
