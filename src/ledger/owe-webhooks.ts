import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import type { Source } from '../domain/observation.ts';
import type { HeldTransaction } from './decide.ts';
import type { HeldEvent } from './history.ts';

/**
 * Writes down each change that the provider announces by webhook and that we learnt by looking instead: the watch
 * settles it, as announced or as lost, once WEBHOOK_GRACE has passed since the change.
 */
export async function oweWebhooks(
  context: Context,
  trx: Transaction<Database>,
  changes: { seq: number; held: HeldTransaction; added: HeldEvent[]; sources: Map<HeldEvent, Source> }[],
  now: Date,
): Promise<void> {
  const owed = changes
    .flatMap((change) =>
      change.added
        .filter((event) => change.sources.get(event)?.kind !== 'webhook')
        .filter((event) => context.config.WEBHOOKS_OWED.includes(`${change.held.operation}.${event.status}`))
        .map((event) => ({ change, event, at: context.calendar.toInstant(event.atWall) })),
    )
    .filter(({ at }) => at >= context.webhooksSince);
  if (owed.length === 0) return;
  await trx
    .insertInto('owed_webhooks')
    .values(
      owed.map(({ change, event, at }) => ({
        event_seq: event.seq ?? 0,
        transaction_seq: change.seq,
        event_at: at,
        due_at: new Date(Math.max(at.getTime() + context.config.WEBHOOK_GRACE, now.getTime())),
        run_seq: runOf(change.sources.get(event)),
      })),
    )
    .execute();
}

function runOf(source: Source | undefined): number | null {
  return source === undefined || source.kind === 'webhook' ? null : (source.run?.seq ?? null);
}
