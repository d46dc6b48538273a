/** The inbox: all webhooks of the provider. */
import { z } from 'zod';
import { audit, auditShown } from '../access/audit.ts';
import { maySeePersons } from '../access/roles.ts';
import { durationText } from '../config/fields.ts';
import type { Reader } from '../database/reader.ts';
import { reprocessWebhook } from '../inbox/items/quarantine.ts';
import { purgeWebhooks, QUARANTINE_REASONS } from '../inbox/manage/purge-webhooks.ts';
import { findWebhook, listWebhooks, type WebhookQuery } from '../inbox/manage/read-webhooks.ts';
import { refuse } from '../texts/refuse.ts';
import { auditWithheldWebhooks } from './authorize-search.ts';
import { defineChange } from './define-change.ts';
import { defineItem } from './define-item.ts';
import { defineList, nameFilters } from './define-list.ts';
import { accepted, ok } from './describe-operation.ts';
import { maskWebhook } from './mask-texts.ts';
import { presentWritten } from './present-row.ts';
import { webhook, webhookWithItems } from './rows/webhooks.ts';

export const WEBHOOK_STATES = ['pending', 'applied', 'quarantined'] as const;

async function requireWebhook(db: Reader, id: string) {
  const found = await findWebhook(db, id);
  if (!found) throw refuse('webhook_unknown');
  return found;
}

export const reprocessOneWebhook = defineChange({
  name: 'webhooks.reprocess',
  roles: ['operator'],
  route: 'POST /webhooks/{id}/reprocess',
  summary: 'Process it again',
  answers: accepted('Waiting', webhookWithItems),
  refuses: ['webhook_unknown', 'webhook_waiting', 'webhook_body_dropped'],
  async change(inner, _given, by) {
    const { seq, id } = await requireWebhook(inner.db, by.id);
    await reprocessWebhook(inner, seq);
    return { seq, id };
  },
  target: ({ id }) => id,
  answer: async ({ db }, { id }) => presentWritten(await findWebhook(db, id)),
});

export const purgeManyWebhooks = defineChange({
  name: 'webhooks.purge',
  audits: 'itself',
  roles: ['operator'],
  summary: 'Drop quarantined webhooks of one reason: bodies are deleted, hashes stay, so a repeat is still recognized',
  input: z.object({
    reason: z.enum(QUARANTINE_REASONS as [string, ...string[]], `must be one of ${QUARANTINE_REASONS.join(', ')}`),
    older_than: z.string('must be a duration: 10s, 5m, 24h or 7d').transform((text, issues) => {
      const { data: ms } = durationText.safeParse(text);
      if (ms === undefined) issues.addIssue('must be a duration: 10s, 5m, 24h or 7d');
      return { text, ms: ms ?? 0 };
    }),
  }),
  answers: ok('Purged', z.object({ purged: z.int() })),
  change(context, { reason, older_than: { text, ms } }, { caller, via }) {
    const before = new Date(context.clock.now().getTime() - ms);
    const detail = `${via ? `${via}, ` : ''}older than ${text}`;
    return purgeWebhooks(context, { reason, before, actor: caller.id, detail });
  },
  answer: async (_context, purged) => ({ purged }),
});

type WebhookFilter = Omit<WebhookQuery, 'limit' | 'after' | 'transactionId'> & { transaction_id?: string | undefined };
const searched = ({ transaction_id: transactionId, ...filter }: WebhookFilter) => ({ ...filter, transactionId });

export const webhooks = defineList<Awaited<ReturnType<typeof listWebhooks>>[number], WebhookFilter>({
  name: 'webhooks',
  roles: ['viewer'],
  route: '/webhooks',
  row: webhook,
  filters: z.object({
    state: z.enum(WEBHOOK_STATES, `must be one of ${WEBHOOK_STATES.join(', ')}`).optional(),
    transaction_id: z.string().min(1).optional().describe('that name this transaction'),
    reference: z.string().min(1).optional().describe('that name this reference'),
    extra: z.string().min(1).optional().describe('that name this extra'),
    reason: z.string().min(1).optional().describe('why it is quarantined, as the list says it'),
  }),
  search: searched,
  read: ({ db }, page, filter) => listWebhooks(db, { ...searched(filter), ...page }),
  async personal(context, _rows, { caller, filter, via }) {
    const target = nameFilters(filter);
    // without a filter nobody was looked up, and the list names no person: the live page would fill the audit
    if (via && target === '[]') return;
    await audit(context, { actor: caller.id, action: 'webhooks.list', target, detail: via });
  },
  async mask(context, rows, caller, filter) {
    await auditWithheldWebhooks(context, caller, searched(filter), rows);
    return rows;
  },
});

export const oneWebhook = defineItem({
  route: '/webhooks/{id}',
  summary: 'One webhook and its items',
  item: webhookWithItems,
  async read(context, { id, caller }) {
    const found = await requireWebhook(context.db, id);
    if (!maySeePersons(caller.role)) return await maskWebhook(context.db, found);
    const transactions = found.items_detail.flatMap((item) => item.transaction_id ?? []);
    await auditShown(context, { actor: caller.id, action: 'webhooks.show', target: found.id }, { transactions });
    return found;
  },
});
