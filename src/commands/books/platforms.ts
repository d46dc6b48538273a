import type { Command } from 'commander';
import { namePlatform, platforms } from '../../operations/books/platforms.ts';
import { changeCommand, itemCommand } from '../operation-commands.ts';

/** `confere platforms …`: names for the platforms' ids, which the sheets and the console show. */
export function platformsCommand(program: Command): void {
  const group = program.command('platforms').description('names for the ids of platforms');
  changeCommand(group, 'name <id> [name]', namePlatform, {
    description: 'name a platform; without a name, take its name back',
    ask: (_options, [platform, name = null]) => ({ fields: { platform, name } }),
    json: (_body, { given: { platform, name } }) => ({ platform, name }),
    say: (_body, { id, given: { name } }) => (typeof name === 'string' ? `${id}: ${name}` : `${id} has no name`),
  });
  itemCommand(group, platforms, {
    description: 'the platforms that have a name',
    say: (shown) => shown.platforms.map((one) => `${one.platform}  ${one.name}`).join('\n') || 'none',
  });
}
