import type { Command } from 'commander';
import { forgetOneUser, logOutOneUser, users } from '../../operations/access/users.ts';
import { changeCommand, listCommand } from '../operation-commands.ts';
import { formatTime } from '../with-context.ts';

/** `confere users`: people who log in by the company's account. */
export function usersCommand(program: Command): void {
  const group = program.command('users').description("people who log in by the company's account");
  listCommand(group, users, {
    description: 'users, the newest first: role of the last login, open sessions, last login, name',
    isWhole: true,
    none: 'nobody has logged in by the company account yet',
    say(user, context) {
      const last = formatTime(context, user.last_login_at);
      const role = (user.role ?? 'denied').padEnd(10);
      return `${user.id}  ${role}  ${user.sessions} sessions  ${last}  ${user.name ?? '(forgotten)'}`;
    },
  });
  for (const [name, change] of [
    ['log-out', logOutOneUser],
    ['forget', forgetOneUser],
  ] as const)
    changeCommand(group, `${name} <id>`, change, {
      json: (_body, { id }) => ({ id, done: name }),
      say: (_body, { id }) => `${name}: ${id}`,
    });
}
