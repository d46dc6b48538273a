import type { Command } from 'commander';
import { takeResult } from '../../access/keyed-steps.ts';
import type { Context } from '../../context.ts';
import { ConfereError, wrongUse } from '../../domain/errors.ts';
import { QUARANTINE_REASONS } from '../../inbox/manage/purge-webhooks.ts';
import { listWebhooks } from '../../inbox/manage/read-webhooks.ts';
import { COMMAND, makeChange } from '../../operations/define-change.ts';
import { purgeManyWebhooks, reprocessOneWebhook, webhooks } from '../../operations/webhooks.ts';
import { changeCommand, listCommand } from '../operation-commands.ts';
import { formatTime, print, withContext } from '../with-context.ts';
import { showWebhookCommand } from './show-webhook.ts';

const PAGE_ROWS = 200;

type ReprocessOptions = { quarantined?: boolean; reason?: string; json?: boolean };
type Listed = { seq: number; id: string };

/** `confere webhooks …`: lists the inbox, and processes or purges what is quarantined. */
export function webhooksCommand(program: Command): void {
  const group = program.command('webhooks').description('the inbox: all webhooks, quarantined ones included');
  listCommand(group, webhooks, {
    description: 'the newest webhooks, each with its state and the reason of its quarantine',
    fields: { transaction: 'transaction_id' },
    say: (row, context) =>
      `${row.id}  ${formatTime(context, row.received_at)}  ${row.state}${row.reason ? ` (${row.reason})` : ''}  ${row.items} items`,
  });
  showWebhookCommand(group);
  group
    .command('reprocess')
    .description('process webhooks again: those given, or all that are quarantined')
    .argument('[ids...]', 'wh_…')
    .option('--quarantined', 'all that are quarantined')
    .option('--reason <reason>', 'all that are quarantined for this reason')
    .option('--json', 'print one JSON object')
    .action(async (ids: string[], options: ReprocessOptions) => {
      const all = options.quarantined === true || options.reason !== undefined;
      if (all === ids.length > 0) throw wrongUse('name webhooks, or say --quarantined or --reason');
      await withContext({}, async (context) => {
        const count = all ? await reprocessAll(context, options.reason) : await reprocessEach(context, ids);
        print(options.json, { reprocessed: count }, `${count} webhooks will be processed again by the next worker`);
      });
    });
  changeCommand(group, 'purge', purgeManyWebhooks, {
    options: {
      '--reason <reason>': QUARANTINE_REASONS.join(', '),
      '--older-than <duration>': 'received longer ago than this: 10s, 5m, 24h or 7d',
    },
    say: ({ purged }: { purged: number }) => `${purged} webhooks were purged`,
  });
}

async function reprocessEach(context: Context, ids: string[]): Promise<number> {
  for (const id of ids) await reprocess(context, id);
  return ids.length;
}

/** Reprocesses each once, newest first. A webhook that is quarantined again meanwhile is not repeated. */
async function reprocessAll(context: Context, reason: string | undefined): Promise<number> {
  let count = 0;
  let after: number | undefined;
  // behind those that an earlier call with the same key reprocessed
  for (let done = takeResult<Listed>(); done; done = takeResult<Listed>(), count++) after = done.result.seq;
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
async function reprocessIfKept(context: Context, { id }: Listed): Promise<boolean> {
  try {
    await reprocess(context, id);
    return true;
  } catch (error) {
    if (error instanceof ConfereError && error.code === 'conflict') return false;
    throw error;
  }
}

async function reprocess(context: Context, id: string): Promise<void> {
  await makeChange(context, reprocessOneWebhook, { given: undefined, by: { caller: COMMAND, id } });
}
