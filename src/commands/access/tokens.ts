import type { Command } from 'commander';
import { auditChange } from '../../access/audit.ts';
import { isTokenRole, TOKEN_ROLES } from '../../access/roles.ts';
import { createToken, listTokens, revokeToken } from '../../access/tokens.ts';
import type { Context } from '../../context.ts';
import { ConfereError } from '../../domain/errors.ts';
import { append } from '../../domain/lists.ts';
import { parseInstant } from '../parse-options.ts';
import { formatTime, print, withContext } from '../with-context.ts';

const ACTOR = 'command';
const PAGE_ROWS = 200;

type Output = { json?: boolean };
type CreateOptions = Output & { role: string; name: string; merchant?: string; expires?: string };

export function tokensCommand(program: Command): void {
  const tokens = program
    .command('tokens')
    .description('tokens, which open the API and the console, or the portal of one merchant');
  tokens
    .command('create')
    .description('create a token; its text is shown once')
    .requiredOption('--role <role>', TOKEN_ROLES.join(', '))
    .option('--merchant <id>', 'with the role merchant: whose portal it opens')
    .option('--name <name>', 'its owner', 'unnamed')
    .option('--expires <instant>', 'when it ends, such as 2026-12-31T00:00:00-03:00 (default: never)')
    .option('--json', 'print one JSON object')
    .action(create);
  tokens
    .command('list')
    .description('all tokens: role, state, last use; never the text')
    .option('--json', 'print one JSON object')
    .action((options: Output) => withContext({}, (context) => list(context, options)));
  tokens
    .command('revoke <id>')
    .description('revoke a token and its sessions at once')
    .option('--json', 'print one JSON object')
    .action((id: string, { json }: Output) =>
      withContext({}, async (context) => {
        const done = { actor: ACTOR, action: 'tokens.revoke', target: id };
        await auditChange(context, (inner) => revokeToken(inner, id), done);
        print(json, { id, revoked: true }, `revoked ${id}`);
      }),
    );
}

async function create({ role, name, merchant, expires, json }: CreateOptions): Promise<void> {
  if (!isTokenRole(role)) throw new ConfereError('wrong_use', `--role must be one of ${TOKEN_ROLES.join(', ')}`);
  if ((role === 'merchant') !== (merchant !== undefined))
    throw new ConfereError('wrong_use', '--role merchant and --merchant go together');
  const expiresAt = parseInstant('--expires', expires);
  await withContext({}, async (context) => {
    const token = await auditChange(
      context,
      (inner) => createToken(inner, { role, name, merchant, expiresAt }),
      (made) => ({ actor: ACTOR, action: 'tokens.create', target: made.id }),
    );
    const until = token.expires_at === undefined ? '' : `, until ${formatTime(context, token.expires_at)}`;
    print(json, token, `${token.token}\n(${token.id}, role ${token.role}${until}; shown only now)`);
  });
}

async function list(context: Context, { json }: Output): Promise<void> {
  const tokens: Omit<Awaited<ReturnType<typeof listTokens>>[number], 'seq'>[] = [];
  for (let after: number | undefined; ; ) {
    const rows = await listTokens(context, PAGE_ROWS, after);
    append(
      tokens,
      rows.map(({ seq: _, ...token }) => token),
    );
    after = rows.at(-1)?.seq;
    if (rows.length < PAGE_ROWS) break;
  }
  const lines = tokens.map((one) => {
    const used = one.last_used_at === null ? 'never used' : formatTime(context, one.last_used_at);
    return `${one.id}  ${one.role.padEnd(10)}  ${one.state.padEnd(7)}  ${used}  ${one.name}`;
  });
  print(json, { tokens }, lines.join('\n') || 'there is no token yet: confere tokens create');
}
