import type { Command } from 'commander';
import { auditChange } from '../../access/audit.ts';
import { forgetUser, listUsers, logOutUser } from '../../access/users.ts';
import type { Context } from '../../context.ts';
import { append } from '../../domain/lists.ts';
import { formatTime, print, withContext } from '../with-context.ts';

const ACTOR = 'command';
const PAGE_ROWS = 200;

type Output = { json?: boolean };

/** `confere users`: people who log in by the company's account. */
export function usersCommand(program: Command): void {
  const users = program.command('users').description("people who log in by the company's account");
  users
    .command('list')
    .description('users, the newest first: role of the last login, open sessions, last login, name')
    .option('--json', 'print one JSON object')
    .action((options: Output) => withContext({}, (context) => list(context, options)));
  addChange(users, 'log-out', 'end all sessions of a user at once; they may log in again', logOutUser);
  addChange(
    users,
    'forget',
    "remove a user's name and subject, and end their sessions; the audit keeps the id",
    forgetUser,
  );
}

async function list(context: Context, { json }: Output): Promise<void> {
  const users: Omit<Awaited<ReturnType<typeof listUsers>>[number], 'seq'>[] = [];
  for (let after: number | undefined; ; ) {
    const rows = await listUsers(context, PAGE_ROWS, after);
    append(
      users,
      rows.map(({ seq: _, ...user }) => user),
    );
    after = rows.at(-1)?.seq;
    if (rows.length < PAGE_ROWS) break;
  }
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
