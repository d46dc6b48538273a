import type { Context } from '../../context.ts';
import { renderBodies } from '../render/render-bodies.ts';
import type { CallbackRow } from './read-callbacks.ts';

/** Renders the body of a callback as it would be sent now; undefined if the ledger does not have its event. */
export async function readMessage(context: Context, row: CallbackRow): Promise<object | undefined> {
  const callback = {
    seq: row.seq,
    transactionSeq: row.transaction_seq,
    eventSeq: row.event_seq,
    sequence: row.sequence,
    type: row.type,
    previousStatus: row.previous_status,
    source: row.source,
    createdAt: row.created_at,
  };
  return (await renderBodies(context, [callback])).get(row.seq);
}
