import type { Context } from '../../context.ts';
import { toProviderBody } from '../render/provider-body.ts';
import { renderRows } from '../render/render-bodies.ts';
import type { RenderableRow } from '../render/renderable.ts';

/**
 * Renders the body of a callback as it would be sent now; undefined if the ledger does not have its event. A message that the
 * merchant's format has no body for is rendered in ours.
 */
export async function readMessage(
  context: Context,
  row: RenderableRow & { webhook_id: string },
  format: string,
): Promise<object | undefined> {
  const body = (await renderRows(context, [row])).get(row.seq);
  return (format === 'provider' && body && toProviderBody(body, row.webhook_id)) || body;
}
