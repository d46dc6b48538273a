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
    options: {
      '--actor <id>': 'only by this token or user (admin, command: without one)',
      '--action <name>': 'only this action, such as tokens.create',
      '--target <id>': 'only on this target',
      '--from <instant>': 'from this instant on, such as 2026-11-21T00:00:00-03:00',
      '--to <instant>': 'before this instant',
    },
    max: LIST_MAX,
    say(row, context) {
      const actor = row.actor_name === null ? row.actor : `${row.actor} (${row.actor_name})`;
      return [formatTime(context, row.at), actor, row.action, row.target, row.detail].filter(Boolean).join('  ');
    },
  });
}
