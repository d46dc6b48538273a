import type { Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import type { Database } from '../../database/tables.ts';
import type { Source } from '../../domain/observation.ts';
import type { StoredEvent } from '../../domain/sort-history.ts';
import type { StoredTransaction } from '../decide/stored-transaction.ts';

/**
 * Records each change that the provider should announce by webhook (WEBHOOKS_OWED), unless the webhook that caused this
 * observation announced it. Once WEBHOOK_GRACE has passed since the change, the watch marks it as announced or lost. A
 * webhook announces a change only if it arrived between the change and the end of its grace; an earlier or later one
 * may have led us to the change without announcing it.
 */
export async function expectWebhooks(
  context: Context,
  trx: Transaction<Database>,
  changes: { seq: number; after: StoredTransaction; added: StoredEvent[]; sources: Map<StoredEvent, Source> }[],
  now: Date,
): Promise<void> {
  const learnt = changes
    .flatMap((change) =>
      change.added
        // an inferred event is dated by the creation: the real event expects the webhook, at its own time
        .filter((event) => !event.inferred)
        .filter((event) => context.config.WEBHOOKS_OWED.includes(`${change.after.operation}.${event.status}`))
        .map((event) => ({
          change,
          event,
          source: change.sources.get(event),
          at: context.calendar.toInstant(event.atWall),
        })),
    )
    .filter(({ at }) => at >= context.webhooksSince);
  const arrivals = await readArrivals(
    trx,
    learnt.flatMap(({ source }) => (source?.kind === 'webhook' ? [source.webhook.seq] : [])),
  );
  const expected = learnt.filter(({ source, at }) => {
    const arrivedAt = source?.kind === 'webhook' ? arrivals.get(source.webhook.seq) : undefined;
    return !arrivedAt || arrivedAt < at || arrivedAt.getTime() > at.getTime() + context.config.WEBHOOK_GRACE;
  });
  if (expected.length === 0) return;
  await trx
    .insertInto('owed_webhooks')
    .values(
      expected.map(({ change, event, source, at }) => ({
        event_seq: requireRowNumber(event.seq, `a new event of ${change.after.id}`),
        transaction_seq: change.seq,
        event_at: at,
        due_at: new Date(Math.max(at.getTime() + context.config.WEBHOOK_GRACE, now.getTime())),
        run_seq: runOf(source),
      })),
    )
    .execute();
}

/** Returns when each webhook first arrived. Repeats are considered by the watch, when it checks the change. */
async function readArrivals(trx: Transaction<Database>, seqs: number[]): Promise<Map<number, Date>> {
  if (seqs.length === 0) return new Map();
  const rows = await trx
    .selectFrom('webhooks')
    .select(['seq', 'received_at'])
    .where('seq', 'in', [...new Set(seqs)])
    .execute();
  return new Map(rows.map((row) => [row.seq, row.received_at]));
}

function runOf(source: Source | undefined): number | null {
  return source === undefined || source.kind === 'webhook' ? null : (source.run?.seq ?? null);
}
