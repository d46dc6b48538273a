import type { Command } from 'commander';
import { renderAccountMap } from '../../imports/kinds/accounts.ts';
import { listUnmappedAccounts, readAccountMap } from '../../ledger/stated/account-map.ts';
import { importByCommand } from '../imports/imports.ts';
import { print, withContext } from '../with-context.ts';

type Options = { json?: boolean };

/** `confere accounts …`: the map of our accounts to the customer's chart of accounts. */
export function accountsCommand(program: Command): void {
  const accounts = program
    .command('accounts')
    .description(
      "the map of the ledger's accounts to your chart of accounts, for --format lancamentos, conta-azul, calima",
    );
  accounts
    .command('map <file>')
    .description(
      'replace the map by an XLSX or CSV (- for standard input), as confere import accounts: conta;plataforma;código;categoria;centro de custo;histórico',
    )
    .option('--json', 'print one JSON object')
    .action((file: string, { json }: Options) => map(file, json));
  accounts
    .command('list')
    .description('print the map as such a CSV, with a row to be filled in for each account without one')
    .option('--json', 'print one JSON object')
    .action(({ json }: Options) =>
      withContext({}, async (context) => {
        const { accounts: rows, ...change } = await readAccountMap(context.db);
        const unmapped = await listUnmappedAccounts(context.db, rows);
        print(json, { accounts: rows, unmapped, ...change }, renderAccountMap(rows).trimEnd());
      }),
    );
}

async function map(file: string, json: boolean | undefined): Promise<void> {
  await importByCommand('accounts', file, {}, async (context, { rows, changed }) => {
    const { accounts } = await readAccountMap(context.db);
    const unmapped = await listUnmappedAccounts(context.db, accounts);
    const missing = unmapped.length > 0 ? `; still without a row: ${unmapped.join(', ')}` : '';
    const isChanged = changed > 0;
    print(
      json,
      { rows, changed: isChanged, unmapped },
      `${isChanged ? 'mapped' : 'unchanged:'} ${rows} rows${missing}`,
    );
  });
}
