import type { Command } from 'commander';
import { auditChange } from '../access/audit.ts';
import { maskPlatform } from '../domain/person/mask-person.ts';
import { listPlatformNames, setPlatformName } from '../ledger/stated/platform-names.ts';
import { print, withContext } from './with-context.ts';

type Output = { json?: boolean };

/** `confere platforms …`: names for the platforms' ids, which the sheets and the console show. */
export function platformsCommand(program: Command): void {
  const platforms = program.command('platforms').description('names for the ids of platforms');
  platforms
    .command('name <id> [name]')
    .description('name a platform; without a name, take its name back')
    .option('--json', 'print one JSON object')
    .action((id: string, name: string | undefined, { json }: Output) =>
      withContext({}, async (context) => {
        const named = { platform: id, name: name ?? null, actor: 'command' };
        await auditChange(
          context,
          (inner) => setPlatformName(inner, named),
          () => ({ actor: 'command', action: 'platforms.name', target: maskPlatform(id) }),
        );
        print(json, { platform: id, name: named.name }, named.name === null ? `${id} has no name` : `${id}: ${name}`);
      }),
    );
  platforms
    .command('list')
    .description('the platforms that have a name')
    .option('--json', 'print one JSON object')
    .action(({ json }: Output) =>
      withContext({}, async (context) => {
        const named = await listPlatformNames(context.db);
        print(json, { platforms: named }, named.map((one) => `${one.platform}  ${one.name}`).join('\n') || 'none');
      }),
    );
}
