import type { Command } from 'commander';
import { auditRows } from '../../operations/access/audit.ts';
import { listCommand } from '../operation-commands.ts';
import { formatTime } from '../with-context.ts';

const LIST_MAX = 1000;

/** `confere audit`: lists changes and accesses to personal data. */
export function auditCommand(program: Command): void {
  listCommand(program, auditRows, {
    name: 'audit',
    description: 'list changes and accesses to personal data, newest first',
    max: LIST_MAX,
    say(row, context) {
      const actor = row.actor_name === null ? row.actor : `${row.actor} (${row.actor_name})`;
      return [formatTime(context, row.at), actor, row.action, row.target, row.detail].filter(Boolean).join('  ');
    },
  });
}
