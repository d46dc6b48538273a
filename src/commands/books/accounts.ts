import type { Command } from 'commander';
import { auditChange } from '../../access/audit.ts';
import {
  describeMapChange,
  listUnmappedAccounts,
  readAccountMap,
  setAccountMap,
} from '../../ledger/stated/account-map.ts';
import { decodeAccountMap, parseAccountMap, renderAccountMap } from '../../ledger/stated/parse-account-map.ts';
import { readBytes } from '../parse-options.ts';
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
      'replace the map by a CSV (- for standard input): conta;plataforma;código;categoria;centro de custo;histórico',
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
  const given = parseAccountMap(decodeAccountMap(await readBytes(file)));
  await withContext({}, async (context) => {
    const { rows, changed } = await auditChange(
      context,
      (inner) => setAccountMap(inner, { ...given, actor: 'command' }),
      (result) => ({ actor: 'command', ...describeMapChange(result) }),
    );
    const unmapped = await listUnmappedAccounts(context.db, given.accounts);
    const missing = unmapped.length > 0 ? `; still without a row: ${unmapped.join(', ')}` : '';
    print(json, { rows, changed, unmapped }, `${changed ? 'mapped' : 'unchanged:'} ${rows} rows${missing}`);
  });
}
