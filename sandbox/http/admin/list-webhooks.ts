import type { Sandbox } from '../../context.ts';
import { countWebhooks, type WebhookCounts } from '../../webhooks/count-webhooks.ts';
import { parseInput, webhooksQuerySchema } from './admin-schemas.ts';

/** Lists webhooks in the order of their creation, from the key `after` on, with the counts of all. */
export async function listWebhooks(
  sandbox: Sandbox,
  query: unknown,
): Promise<{ counts: WebhookCounts; webhooks: unknown[] }> {
  const { transaction_id, fate, state, limit, after } = parseInput(webhooksQuerySchema, query);
  let rows = sandbox.db.selectFrom('webhooks').selectAll().where('id', '>', after).orderBy('id').limit(limit);
  if (transaction_id !== undefined) rows = rows.where('transaction_id', '=', transaction_id);
  if (fate !== undefined) rows = rows.where('fate', '=', fate);
  if (state !== undefined) rows = rows.where('state', '=', state);
  const [webhooks, counts] = await Promise.all([rows.execute(), countWebhooks(sandbox.db)]);
  return { counts, webhooks: webhooks.map((webhook) => ({ ...webhook, authorised: webhook.authorised === 1 })) };
}
