import type { Command } from 'commander';
import { renderAccountMap } from '../../imports/kinds/accounts.ts';
import { accounts } from '../../operations/books/accounts.ts';
import { COMMAND } from '../../operations/define-change.ts';
import { importByCommand } from '../imports/imports.ts';
import { itemCommand } from '../operation-commands.ts';
import { print } from '../with-context.ts';

type Options = { json?: boolean };

/** `confere accounts …`: the map of our accounts to the customer's chart of accounts. */
export function accountsCommand(program: Command): void {
  const group = program
    .command('accounts')
    .description(
      "the map of the ledger's accounts to your chart of accounts, for --format lancamentos, conta-azul, calima",
    );
  group
    .command('map <file>')
    .description(
      'replace the map by an XLSX or CSV (- for standard input), as confere import accounts: conta;plataforma;código;categoria;centro de custo;histórico',
    )
    .option('--json', 'print one JSON object')
    .action((file: string, { json }: Options) => map(file, json));
  itemCommand(group, accounts, {
    description: 'print the map as such a CSV, with a row to be filled in for each account without one',
    say: (map) => renderAccountMap(map.accounts).trimEnd(),
  });
}

async function map(file: string, json: boolean | undefined): Promise<void> {
  await importByCommand('accounts', file, {}, async (context, { rows, changed }) => {
    const { unmapped } = await accounts.read(context, { caller: COMMAND, id: '' });
    const missing = unmapped.length > 0 ? `; still without a row: ${unmapped.join(', ')}` : '';
    const isChanged = changed > 0;
    print(
      json,
      { rows, changed: isChanged, unmapped },
      `${isChanged ? 'mapped' : 'unchanged:'} ${rows} rows${missing}`,
    );
  });
}
