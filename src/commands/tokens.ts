import type { Command } from 'commander';
import { audit } from '../access/audit.ts';
import { createToken, ROLES, type Role } from '../access/tokens.ts';
import { ConfereError } from '../domain/errors.ts';
import { print, withContext } from './with-context.ts';

type Options = { role: string; name: string; json?: boolean };

export function tokensCommand(program: Command): void {
  const tokens = program.command('tokens').description('who may use the API and the console');
  tokens
    .command('create')
    .description('make a token; its text is shown this once')
    .requiredOption('--role <role>', ROLES.join(', '))
    .option('--name <name>', 'whose it is', 'unnamed')
    .option('--json', 'print one JSON object')
    .action(async ({ role, name, json }: Options) => {
      if (!isRole(role)) throw new ConfereError('wrong_use', `--role must be one of ${ROLES.join(', ')}`);
      await withContext({}, async (context) => {
        const token = await createToken(context, { role, name });
        await audit(context, { actor: 'command', action: 'tokens.create', target: token.id });
        print(json, token, `${token.token}\n(${token.id}, role ${token.role}; shown only now)`);
      });
    });
}

function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}
