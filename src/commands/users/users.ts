import type { Command } from 'commander';
import { auditChange } from '../../access/audit.ts';
import { forgetUser, listUsers, logOutUser } from '../../access/users.ts';
import type { Context } from '../../context.ts';
import { parseLimit } from '../parse-options.ts';
import { formatTime, print, withContext } from '../with-context.ts';

const ACTOR = 'command';
const LIST_MAX = 1000;

type Output = { json?: boolean };

/** `confere users`: people who log in by the company's account. */
export function usersCommand(program: Command): void {
  const users = program.command('users').description("people who log in by the company's account");
  users
    .command('list')
    .description('users, the last login first: name, role and sessions')
    .option('--limit <count>', `users at most, up to ${LIST_MAX}`, '200')
    .option('--json', 'print one JSON object')
    .action((options: Output & { limit: string }) => {
      const limit = parseLimit(options.limit, LIST_MAX);
      return withContext({}, (context) => list(context, limit, options));
    });
  addChange(users, 'log-out', 'end all sessions of a user at once; they may log in again', logOutUser);
  addChange(
    users,
    'forget',
    "remove a user's name and subject, and end their sessions; the audit keeps the id",
    forgetUser,
  );
}

async function list(context: Context, limit: number, { json }: Output): Promise<void> {
  const users = await listUsers(context, limit);
  const lines = users.map((user) => {
    const role = (user.role ?? 'denied').padEnd(10);
    const last = formatTime(context, user.last_login_at);
    return `${user.id}  ${role}  ${user.sessions} sessions  ${last}  ${user.name ?? '(forgotten)'}`;
  });
  print(json, { users }, lines.join('\n') || 'nobody has logged in by the company account yet');
}

function addChange(
  users: Command,
  name: 'log-out' | 'forget',
  description: string,
  change: (context: Context, id: string) => Promise<void>,
): void {
  users
    .command(`${name} <id>`)
    .description(description)
    .option('--json', 'print one JSON object')
    .action((id: string, { json }: Output) =>
      withContext({}, async (context) => {
        const action = name === 'forget' ? 'users.forget' : 'users.log_out';
        await auditChange(context, (inner) => change(inner, id), { actor: ACTOR, action, target: id });
        print(json, { id, done: name }, `${name}: ${id}`);
      }),
    );
}
