import type { Reader } from '../../database/reader.ts';
import { TEXT_BYTES_MAX, truncateText } from '../../domain/field-limits.ts';
import { hashText } from '../../domain/hash-text.ts';
import { hashRangeOf, webhookIdOf } from '../../domain/ids.ts';

export type WebhookQuery = {
  transactionId?: string | undefined;
  reference?: string | undefined;
  extra?: string | undefined;
  reason?: string | undefined;
  state?: 'pending' | 'applied' | 'quarantined' | undefined;
  limit: number;
  after?: number | undefined;
};

/** @returns matching webhooks, newest first, as the API shows them, quarantined ones included. */
export async function listWebhooks(db: Reader, query: WebhookQuery) {
  let select = selectWebhooks(db).orderBy('webhooks.seq', 'desc').limit(query.limit);
  if (query.after !== undefined) select = select.where('webhooks.seq', '<', query.after);
  if (query.state === 'pending') select = select.where('webhooks.state', 'in', ['received', 'pending']);
  else if (query.state !== undefined) select = select.where('webhooks.state', '=', query.state);
  if (query.reason !== undefined) select = select.where('webhooks.reason', '=', query.reason);
  const { transactionId, reference, extra } = query;
  if (transactionId !== undefined || reference !== undefined || extra !== undefined) {
    select = select.where('webhooks.seq', 'in', (eb) => {
      let items = eb.selectFrom('webhook_items').select('webhook_seq');
      if (transactionId !== undefined) {
        items = items.where((inner) =>
          inner.or([
            inner('transaction_id', '=', transactionId.toLowerCase()),
            inner('resolved_id', '=', transactionId),
          ]),
        );
      }
      if (reference !== undefined)
        items = items.where('reference', '=', truncateText(reference, TEXT_BYTES_MAX.reference));
      if (extra !== undefined) items = items.where('extra_hash', '=', hashExtra(extra));
      return items;
    });
  }
  return (await select.execute()).map(present);
}

/** Counts quarantined webhooks by reason, the most frequent first. Purged ones, whose body is gone, are counted apart. */
export async function countQuarantined(db: Reader) {
  const rows = await db
    .selectFrom('webhooks')
    .select((eb) => [
      'reason',
      eb.fn.countAll<number>().as('count'),
      eb.fn.count<number>('dropped_at').as('dropped'),
      eb.fn.min('received_at').as('first_at'),
      eb.fn.max('received_at').as('last_at'),
    ])
    .where('state', '=', 'quarantined')
    .groupBy('reason')
    .orderBy('count', 'desc')
    .execute();
  return rows.map((row) => ({ ...row, count: Number(row.count), dropped: Number(row.dropped) }));
}

/** @returns a webhook by its id, with the state of each item; undefined if there is none. */
export async function findWebhook(db: Reader, id: string) {
  const range = hashRangeOf(id);
  if (!range) return undefined;
  const row = await selectWebhooks(db)
    .where('webhooks.hash', '>=', range.from)
    .where('webhooks.hash', '<=', range.to)
    .executeTakeFirst();
  if (!row) return undefined;
  const items = await db
    .selectFrom('webhook_items')
    .select(['position', 'transaction_id', 'resolved_id', 'reference', 'claimed_status', 'state', 'reason'])
    .select(['looks', 'looked_at', 'next_look_at', 'contradicted'])
    .where('webhook_seq', '=', row.seq)
    .orderBy('position')
    .execute();
  return {
    ...present(row),
    items_detail: items.map((item) => ({
      transaction_id: item.resolved_id ?? item.transaction_id,
      reference: item.reference,
      claimed_status: item.claimed_status,
      state: item.state,
      reason: item.reason,
      looks: item.looks,
      looked_at: item.looked_at?.toISOString() ?? null,
      next_look_at: item.next_look_at?.toISOString() ?? null,
      contradicted: item.contradicted === 1,
    })),
  };
}

function selectWebhooks(db: Reader) {
  return db.selectFrom('webhooks').select(['seq', 'hash', 'received_at', 'state', 'reason', 'items', 'repeats']);
}

type Row = Awaited<ReturnType<ReturnType<typeof selectWebhooks>['execute']>>[number];

function present(row: Row) {
  return {
    seq: row.seq,
    id: webhookIdOf(row.hash),
    received_at: row.received_at.toISOString(),
    state: row.state === 'received' ? 'pending' : row.state,
    reason: row.reason,
    items: row.items,
    repeats: row.repeats,
  };
}

/** Hashes an extra in the form that items store. */
function hashExtra(extra: string): Buffer {
  return hashText(truncateText(extra, TEXT_BYTES_MAX.extra));
}
