import { auditParts } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import { quarantineDropped } from '../../metrics/metrics.ts';
import { clearBodies } from '../receive/drop-bodies.ts';

/** Why a webhook is quarantined. */
export const QUARANTINE_REASONS: readonly string[] = [
  ...['empty', 'not_json', 'not_an_object', 'too_deep', 'no_key', 'too_many_items', 'ambiguous'],
  ...['unknown_at_provider', 'unreadable_at_provider', 'not_taken_apart', 'not_redacted'],
];

const BATCH_ROWS = 200;

/**
 * Drops the bodies and items of quarantined webhooks of one reason that arrived before an instant. Their hashes stay, so the
 * same bytes are still a repeat.
 * @param purge.detail of the audit's row, which each batch writes in its transaction, with its number of webhooks.
 * @returns how many webhooks were purged.
 */
export async function purgeWebhooks(
  context: Context,
  { reason, before, actor, detail }: { reason: string; before: Date; actor: string; detail: string },
): Promise<number> {
  let purged = 0;
  const inParts = auditParts(context, (count) => ({
    ...{ actor, action: 'webhooks.purge', target: reason, detail: `${detail}: ${count}` },
  }));
  for (let after = 0; !context.signal.aborted; ) {
    const from = after;
    const { count, last } = await inParts(async (inner) => {
      const seqs = await purgeBatch(inner, { reason, before, after: from });
      return { count: seqs.length, last: seqs.at(-1) ?? from };
    });
    purged += count;
    quarantineDropped.inc(count);
    after = last;
    if (count < BATCH_ROWS) break;
  }
  return purged;
}

type Batch = { reason: string; before: Date; after: number };

async function purgeBatch({ db, clock }: Context, { reason, before, after }: Batch): Promise<number[]> {
  const rows = await db
    .selectFrom('webhooks')
    .select('seq')
    .where('state', '=', 'quarantined')
    .where('reason', '=', reason)
    .where('received_at', '<', before)
    .where('dropped_at', 'is', null)
    .where('seq', '>', after)
    // not if another item of the same body was applied: the ledger names that webhook as its source
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('webhook_items')
            .select('webhook_items.seq')
            .whereRef('webhook_items.webhook_seq', '=', 'webhooks.seq')
            .where('webhook_items.state', '=', 'applied'),
        ),
      ),
    )
    .orderBy('seq')
    .limit(BATCH_ROWS)
    .forUpdate()
    .execute();
  const seqs = rows.map((row) => row.seq);
  if (seqs.length === 0) return [];
  await clearBodies(db, seqs, clock.now());
  await db.deleteFrom('webhook_items').where('webhook_seq', 'in', seqs).execute();
  return seqs;
}
