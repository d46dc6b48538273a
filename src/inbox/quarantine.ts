import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { ConfereError } from '../domain/errors.ts';
import { raiseMismatches, resolveMismatches } from '../ledger/mismatches.ts';

/** Tells ops of what was quarantined: one open mismatch a reason and hour, naming the first webhook of it. */
export async function raiseQuarantine(
  context: Context,
  trx: Transaction<Database>,
  quarantined: { seq: number; reason: string }[],
): Promise<void> {
  const now = context.clock.now();
  const found = quarantined.map(({ seq, reason }) => ({
    kind: 'webhook_quarantined' as const,
    scope: quarantineScope(reason, now),
    webhookSeq: seq,
    actual: { reason },
  }));
  await raiseMismatches(trx, found, now);
  if (found.length > 0) context.bells.alerts.ring();
}

/**
 * Puts a webhook's items back to be looked at, whatever became of them, and takes a quarantined body apart again.
 * @throws ConfereError `not_found`, `conflict` when it is still waiting for its first look.
 */
export async function reprocessWebhook(context: Context, seq: number): Promise<void> {
  await transact(context.db, async (trx) => {
    const row = await trx
      .selectFrom('webhooks')
      .select(['state', 'items'])
      .where('seq', '=', seq)
      .forUpdate()
      .executeTakeFirst();
    if (!row) throw new ConfereError('not_found', 'there is no such webhook');
    if (row.state === 'received') throw new ConfereError('conflict', 'it is waiting for its first look already');
    if (row.items === 0) {
      await trx.updateTable('webhooks').set({ state: 'received' }).where('seq', '=', seq).execute();
      return;
    }
    const now = context.clock.now();
    await trx
      .updateTable('webhook_items')
      .set({ state: 'pending', reason: null, looks: 0, next_look_at: now })
      .where('webhook_seq', '=', seq)
      .where((eb) =>
        eb.or([
          eb('transaction_id', 'is not', null),
          eb('reference', 'is not', null),
          eb('extra_hash', 'is not', null),
        ]),
      )
      .execute();
    await trx.updateTable('webhooks').set({ state: 'pending', reason: null }).where('seq', '=', seq).execute();
  });
  context.bells.inbox.ring();
}

/** Ends the open mismatches that name a webhook, once it was applied after all. */
export async function resolveQuarantine(trx: Transaction<Database>, webhookSeqs: number[], now: Date): Promise<void> {
  if (webhookSeqs.length === 0) return;
  const rows = await trx
    .selectFrom('mismatches')
    .select('scope')
    .where('kind', '=', 'webhook_quarantined')
    .where('open_scope', 'is not', null)
    .where('webhook_seq', 'in', webhookSeqs)
    .execute();
  const over = rows.map((row) => ({ kind: 'webhook_quarantined' as const, scope: row.scope }));
  await resolveMismatches(trx, over, 'reprocessed', now);
}

function quarantineScope(reason: string, now: Date): string {
  return `${reason} ${now.toISOString().slice(0, 13)}`;
}
