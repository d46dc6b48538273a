import type { Command } from 'commander';
import { audit, auditChange } from '../access/audit.ts';
import { takeResult } from '../access/keyed-steps.ts';
import { durationText } from '../config/fields.ts';
import type { Context } from '../context.ts';
import { ConfereError } from '../domain/errors.ts';
import { reprocessWebhook } from '../inbox/items/quarantine.ts';
import { purgeWebhooks, QUARANTINE_REASONS } from '../inbox/manage/purge-webhooks.ts';
import { findWebhook, listWebhooks, type WebhookQuery } from '../inbox/manage/read-webhooks.ts';
import { authorizeSearch } from '../operations/authorize-search.ts';
import { parseLimit } from './parse-options.ts';
import { showWebhookCommand } from './show-webhook.ts';
import { formatTime, print, withContext } from './with-context.ts';

const STATES = ['pending', 'applied', 'quarantined'] as const;
/** A user of the command line can read the database, so the role is admin. */
const COMMAND_CALLER = { id: 'command', role: 'admin' } as const;
const LIST_MAX = 200;
const PAGE_ROWS = 200;

type ListOptions = { state?: string; transaction?: string; reference?: string; limit: string; json?: boolean };
type PurgeOptions = { reason: string; olderThan: string; json?: boolean };
type ReprocessOptions = { quarantined?: boolean; reason?: string; json?: boolean };

export function webhooksCommand(program: Command): void {
  const webhooks = program.command('webhooks').description('the inbox: all webhooks, quarantined ones included');
  webhooks
    .command('list')
    .description('the newest webhooks, each with its state and the reason of its quarantine')
    .option('--state <state>', STATES.join(', '))
    .option('--transaction <id>', 'only those that name this transaction')
    .option('--reference <text>', 'only those that name this reference')
    .option('--limit <count>', `rows at most, up to ${LIST_MAX}`, '50')
    .option('--json', 'print one JSON object')
    .action(async (options: ListOptions) => {
      const query = readQuery(options);
      await withContext({}, async (context) => {
        await recordSearch(context, query);
        const rows = (await listWebhooks(context.db, query)).map(({ seq: _, ...row }) => row);
        print(options.json, { webhooks: rows }, rows.map((row) => describe(context, row)).join('\n') || 'none');
      });
    });
  showWebhookCommand(webhooks);
  webhooks
    .command('reprocess')
    .description('process webhooks again: those given, or all that are quarantined')
    .argument('[ids...]', 'wh_…')
    .option('--quarantined', 'all that are quarantined')
    .option('--reason <reason>', 'all that are quarantined for this reason')
    .option('--json', 'print one JSON object')
    .action(async (ids: string[], options: ReprocessOptions) => {
      const all = options.quarantined === true || options.reason !== undefined;
      if (all === ids.length > 0)
        throw new ConfereError('wrong_use', 'name webhooks, or say --quarantined or --reason');
      await withContext({}, async (context) => {
        const count = all ? await reprocessAll(context, options.reason) : await reprocessEach(context, ids);
        print(options.json, { reprocessed: count }, `${count} webhooks will be processed again by the next worker`);
      });
    });
  webhooks
    .command('purge')
    .description(
      'drop quarantined webhooks of one reason: bodies are deleted, hashes stay, so a repeat is still recognized',
    )
    .requiredOption('--reason <reason>', QUARANTINE_REASONS.join(', '))
    .requiredOption('--older-than <duration>', 'received longer ago than this: 10s, 5m, 24h or 7d')
    .option('--json', 'print one JSON object')
    .action(async (options: PurgeOptions) => {
      const olderMs = readPurge(options);
      await withContext({}, async (context) => {
        const before = new Date(context.clock.now().getTime() - olderMs);
        const detail = `older than ${options.olderThan}`;
        const count = await purgeWebhooks(context, { reason: options.reason, before, actor: 'command', detail });
        print(options.json, { purged: count }, `${count} webhooks were purged`);
      });
    });
}

/** @returns the milliseconds of --older-than. */
function readPurge({ reason, olderThan }: PurgeOptions): number {
  if (!QUARANTINE_REASONS.includes(reason))
    throw new ConfereError('wrong_use', `--reason must be one of ${QUARANTINE_REASONS.join(', ')}`);
  const olderMs = durationText.safeParse(olderThan).data;
  if (olderMs === undefined) throw new ConfereError('wrong_use', '--older-than must be a duration: 10s, 5m, 24h or 7d');
  return olderMs;
}

function readQuery(options: ListOptions): WebhookQuery {
  const state = STATES.find((one) => one === options.state);
  if (options.state !== undefined && !state)
    throw new ConfereError('wrong_use', `--state must be one of ${STATES.join(', ')}`);
  const limit = parseLimit(options.limit, LIST_MAX);
  return { state, transactionId: options.transaction, reference: options.reference, limit };
}

/** Audits a list as the API does: a reference may be a document. */
async function recordSearch(context: Context, { state, transactionId, reference }: WebhookQuery): Promise<void> {
  await authorizeSearch(context, COMMAND_CALLER, { reference, transactionId });
  const named = Object.entries({ state, transaction_id: transactionId, reference }).filter(([, value]) => value);
  const target = JSON.stringify(named.map(([name]) => name));
  await audit(context, { actor: COMMAND_CALLER.id, action: 'webhooks.list', target });
}

async function reprocessEach(context: Context, ids: string[]): Promise<number> {
  for (const id of ids) {
    const webhook = await findWebhook(context.db, id);
    if (!webhook) throw new ConfereError('not_found', `there is no webhook ${id}`);
    await reprocess(context, webhook);
  }
  return ids.length;
}

/** Reprocesses each once, newest first. A webhook that is quarantined again meanwhile is not repeated. */
async function reprocessAll(context: Context, reason: string | undefined): Promise<number> {
  let count = 0;
  let after: number | undefined;
  // behind those that an earlier call with the same key reprocessed
  for (let done = takeResult<number>(); done; done = takeResult<number>(), count++) after = done.result;
  for (;;) {
    const rows = await listWebhooks(context.db, { state: 'quarantined', limit: PAGE_ROWS, after });
    for (const row of rows) {
      if (reason !== undefined && row.reason !== reason) continue;
      if (await reprocessIfKept(context, row)) count++;
    }
    after = rows.at(-1)?.seq;
    if (rows.length < PAGE_ROWS || context.signal.aborted) return count;
  }
}

/** Skips a webhook whose body was dropped. @returns whether it was reprocessed. */
async function reprocessIfKept(context: Context, webhook: { seq: number; id: string }): Promise<boolean> {
  try {
    await reprocess(context, webhook);
    return true;
  } catch (error) {
    if (error instanceof ConfereError && error.code === 'conflict') return false;
    throw error;
  }
}

async function reprocess(context: Context, webhook: { seq: number; id: string }): Promise<void> {
  const done = { actor: 'command', action: 'webhooks.reprocess', target: webhook.id };
  await auditChange(
    context,
    async (inner) => {
      await reprocessWebhook(inner, webhook.seq);
      return webhook.seq;
    },
    done,
  );
}

function describe(
  context: Context,
  row: {
    id: string;
    received_at: string;
    state: string;
    reason: string | null;
    items: number;
  },
): string {
  return `${row.id}  ${formatTime(context, row.received_at)}  ${row.state}${row.reason ? ` (${row.reason})` : ''}  ${row.items} items`;
}
