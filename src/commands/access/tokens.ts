import type { Command } from 'commander';
import { TOKEN_ROLES } from '../../access/roles.ts';
import { addToken, revokeOneToken, tokens } from '../../operations/access/tokens.ts';
import { changeCommand, listCommand } from '../operation-commands.ts';
import { formatTime } from '../with-context.ts';

/** `confere tokens …`: creates, lists and revokes tokens. */
export function tokensCommand(program: Command): void {
  const group = program
    .command('tokens')
    .description('tokens, which open the API and the console, or the portal of one merchant');
  changeCommand(group, 'create', addToken, {
    description: 'create a token; its text is shown once',
    options: {
      '--role <role>': TOKEN_ROLES.join(', '),
      '--merchant <id>': 'with the role merchant: whose portal it opens',
      '--sources <source...>': 'with the role merchant: whose expected payments it reads and writes',
      '--name <name>': 'its owner (default: "unnamed")',
      '--expires <instant>': 'when it ends, such as 2026-12-31T00:00:00-03:00 (default: never)',
    },
    fields: { expires: 'expires_at' },
    say(token: { id: string; token: string; role: string; expires_at?: string }, { context }) {
      const until = token.expires_at === undefined ? '' : `, until ${formatTime(context, token.expires_at)}`;
      return `${token.token}\n(${token.id}, role ${token.role}${until}; shown only now)`;
    },
  });
  listCommand(group, tokens, {
    description: 'all tokens: role, state, last use; never the text',
    isWhole: true,
    none: 'there is no token yet: confere tokens create',
    say(one, context) {
      const used = one.last_used_at === null ? 'never used' : formatTime(context, one.last_used_at);
      return `${one.id}  ${one.role.padEnd(10)}  ${one.state.padEnd(7)}  ${used}  ${one.name}`;
    },
  });
  changeCommand(group, 'revoke <id>', revokeOneToken, {
    description: 'revoke a token and its sessions at once',
    json: (_body, { id }) => ({ id, revoked: true }),
    say: (_body, { id }) => `revoked ${id}`,
  });
}
