import type { Command } from 'commander';
import type { Context } from '../../context.ts';
import { listPlatformNames } from '../../database/list-platform-names.ts';
import { namePlatform, platforms } from '../../operations/books/platforms.ts';
import { addStatement, statements } from '../../operations/books/statements.ts';
import type { RowOf } from '../../operations/define-list.ts';
import { changeCommand, itemCommand, listCommand } from '../operation-commands.ts';
import { formatTime } from '../with-context.ts';

/** `confere statements …`: states the balance that the provider's panel shows, and lists what was stated. */
export function statementsCommand(program: Command): void {
  const group = program.command('statements').description("balances of the provider's panel, beside the ledger's");
  changeCommand(group, 'add', addStatement, {
    description: "state a platform's balance (available and held) at an instant: a difference opens balance_differs",
    options: {
      '--platform <id>': 'the platform; none: transactions without one',
      '--at <instant>': 'the instant of the balance, such as 2026-11-21T18:00:00-03:00; not a future one',
      '--balance <amount>': 'the balance, such as 1234.56; a leading - for a debt',
      '--new-platform': 'the platform is meant, though no transaction shows it yet',
    },
    say: async (row: Row, { context }) => describe(context, await readNames(context), row),
  });
  listCommand(group, statements, {
    description: 'the newest statements, each with the ledger of today and the difference',
    options: { '--platform <id>': 'of this platform alone; none: what has none' },
    say: async (row, context) => describe(context, await readNames(context), row),
  });
}

type Row = RowOf<typeof statements>;
type Names = ReadonlyMap<string, string>;

async function readNames({ db }: Context): Promise<Names> {
  return new Map((await listPlatformNames(db)).map(({ platform, name }) => [platform, name]));
}

/** One line: the instant on the provider's clock, and the platform's id with its name. */
function describe(context: Context, names: Names, row: Row): string {
  const name = names.get(row.platform);
  const platform = name === undefined ? row.platform : `${row.platform} (${name})`;
  return `${row.id}  ${formatTime(context, row.at)}  ${platform}  stated R$ ${row.balance}  ledger R$ ${row.ledger}  difference R$ ${row.difference}`;
}

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
