import type { Selectable } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { toProviderBody } from '../render/provider-body.ts';
import { renderBodies } from '../render/render-bodies.ts';

type Row = Pick<
  Selectable<Database['callbacks']>,
  'seq' | 'transaction_seq' | 'event_seq' | 'sequence' | 'type' | 'previous_status' | 'source' | 'created_at'
>;

/**
 * Renders the body of a callback as it would be sent now; undefined if the ledger does not have its event. A message that the
 * merchant's format has no body for is rendered in ours.
 */
export async function readMessage(
  context: Context,
  row: Row & { webhook_id: string },
  format: string,
): Promise<object | undefined> {
  const body = (await readMessages(context, [row])).get(row.seq);
  return (format === 'provider' && body && toProviderBody(body, row.webhook_id)) || body;
}

/** Renders the bodies of stored callbacks as they would be sent now. @returns bodies by the callback's row number. */
export async function readMessages(context: Context, rows: Row[]): Promise<Map<number, object>> {
  return await renderBodies(
    context,
    rows.map((row) => ({
      seq: row.seq,
      transactionSeq: row.transaction_seq,
      eventSeq: row.event_seq,
      sequence: row.sequence,
      type: row.type,
      previousStatus: row.previous_status,
      source: row.source,
      createdAt: row.created_at,
    })),
  );
}
