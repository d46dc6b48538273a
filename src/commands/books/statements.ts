import type { Command } from 'commander';
import type { Context } from '../../context.ts';
import { listPlatformNames } from '../../database/shared/list-platform-names.ts';
import { addStatement, statements } from '../../operations/books/statements.ts';
import type { RowOf } from '../../operations/define-list.ts';
import { changeCommand, listCommand } from '../operation-commands.ts';
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
