import type { Command } from 'commander';
import { type AuditFilter, listAudit } from '../../access/list-audit.ts';
import { parseInstant, parseLimit } from '../parse-options.ts';
import { formatTime, print, withContext } from '../with-context.ts';

const LIST_MAX = 1000;

type Options = {
  actor?: string;
  action?: string;
  target?: string;
  from?: string;
  to?: string;
  limit: string;
  json?: boolean;
};

/** `confere audit`: lists changes and accesses to personal data. */
export function auditCommand(program: Command): void {
  program
    .command('audit')
    .description('list changes and accesses to personal data, newest first')
    .option('--actor <id>', 'only by this token or user (admin, command: without one)')
    .option('--action <name>', 'only this action, such as tokens.create')
    .option('--target <id>', 'only on this target')
    .option('--from <instant>', 'from this instant on, such as 2026-11-21T00:00:00-03:00')
    .option('--to <instant>', 'before this instant')
    .option('--limit <count>', `rows at most, up to ${LIST_MAX}`, '50')
    .option('--json', 'print one JSON object')
    .action(async (options: Options) => {
      const limit = parseLimit(options.limit, LIST_MAX);
      const filter: AuditFilter = {
        actor: options.actor,
        action: options.action,
        target: options.target,
        from: parseInstant('--from', options.from),
        to: parseInstant('--to', options.to),
      };
      await withContext({}, async (context) => {
        const found = await listAudit(context.db, filter, { limit, before: undefined });
        const rows = found.map(({ seq: _, ...row }) => row);
        const lines = rows.map((row) =>
          [formatTime(context, row.at), nameActor(row), row.action, row.target, row.detail].filter(Boolean).join('  '),
        );
        print(options.json, { audit: rows }, lines.join('\n') || 'none');
      });
    });
}

function nameActor({ actor, actor_name: name }: { actor: string; actor_name: string | null }): string {
  return name === null ? actor : `${actor} (${name})`;
}
