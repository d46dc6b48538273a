import type { Command } from 'commander';
import { auditShown } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import { ConfereError } from '../../domain/errors.ts';
import { readStoredBody, type StoredBody } from '../../inbox/manage/read-stored-body.ts';
import { findWebhook } from '../../inbox/manage/read-webhooks.ts';
import { formatTime, print, withContext } from '../with-context.ts';

type Webhook = NonNullable<Awaited<ReturnType<typeof findWebhook>>>;

/** Adds `webhooks show`. @param webhooks the command `webhooks`. */
export function showWebhookCommand(webhooks: Command): void {
  webhooks
    .command('show')
    .description('a webhook with its items and its raw body; audited')
    .argument('<id>', 'wh_…')
    .option('--json', 'print one JSON object')
    .action(async (id: string, { json }: { json?: boolean }) => {
      await withContext({}, async (context) => {
        const webhook = await findWebhook(context.db, id);
        if (!webhook) throw new ConfereError('not_found', `there is no webhook ${id}`);
        const transactions = webhook.items_detail.flatMap((item) => item.transaction_id ?? []);
        const shown = { actor: 'command', action: 'webhooks.show', target: webhook.id } as const;
        await auditShown(context, shown, { transactions });
        const stored = await readStoredBody(context, webhook.seq);
        const { seq: _, ...rest } = webhook;
        const body = stored?.body?.toString('utf8') ?? null;
        print(json, { ...rest, source_address: stored?.sourceAddress, body }, describe(context, webhook, stored));
      });
    });
}

function describe(context: Context, webhook: Webhook, stored: StoredBody | undefined): string {
  const reason = webhook.reason ? ` (${webhook.reason})` : '';
  return [
    `${webhook.id}  ${formatTime(context, webhook.received_at)}  ${webhook.state}${reason}  ${webhook.repeats} repeats  from ${stored?.sourceAddress}`,
    ...webhook.items_detail.map(
      (item) => `  ${item.transaction_id ?? item.reference ?? 'no key'}  ${item.claimed_status ?? '-'}  ${item.state}`,
    ),
    stored?.body?.toString('utf8') ?? '  its body was deleted',
  ].join('\n');
}
