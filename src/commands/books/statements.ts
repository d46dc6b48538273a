import type { Command } from 'commander';
import { auditChange } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import { listPlatformNames } from '../../database/list-platform-names.ts';
import { ConfereError } from '../../domain/errors.ts';
import { parseSignedAmount } from '../../domain/money.ts';
import { maskPlatform } from '../../domain/person/mask-person.ts';
import { setPlatformName } from '../../ledger/stated/platform-names.ts';
import { compareStatements, listStatements, storeStatement } from '../../ledger/stated/state-balance.ts';
import { parseInstant, parseLimit, parsePlatform } from '../parse-options.ts';
import { formatTime, print, withContext } from '../with-context.ts';

const LIST_MAX = 200;

type AddOptions = { platform?: string; at?: string; balance?: string; newPlatform?: boolean; json?: boolean };
type Statement = Awaited<ReturnType<typeof listStatements>>[number];

/** `confere statements …`: states the balance that the provider's panel shows, and lists what was stated. */
export function statementsCommand(program: Command): void {
  const statements = program.command('statements').description("balances of the provider's panel, beside the ledger's");
  statements
    .command('add')
    .description("state a platform's balance (available and held) at an instant: a difference opens balance_differs")
    .option('--platform <id>', 'the platform; none: transactions without one')
    .option('--at <instant>', 'the instant of the balance, such as 2026-11-21T18:00:00-03:00; not a future one')
    .option('--balance <amount>', 'the balance, such as 1234.56; a leading - for a debt')
    .option('--new-platform', 'the platform is meant, though no transaction shows it yet')
    .option('--json', 'print one JSON object')
    .action((options: AddOptions) => add(options));
  statements
    .command('list')
    .description('the newest statements, each with the ledger of today and the difference')
    .option('--limit <count>', `rows at most, up to ${LIST_MAX}`, '50')
    .option('--json', 'print one JSON object')
    .action(async ({ limit, json }: { limit: string; json?: boolean }) => {
      const count = parseLimit(limit, LIST_MAX);
      await withContext({}, async (context) => {
        const rows = await listStatements(context, count, undefined);
        const names = await readNames(context);
        print(
          json,
          { statements: rows.map(withoutSeq) },
          rows.map((row) => describe(context, names, row)).join('\n') || 'none',
        );
      });
    });
}

async function add({ balance = '', newPlatform, json, ...options }: AddOptions): Promise<void> {
  const platform = parsePlatform(options.platform);
  const at = parseInstant('--at', options.at ?? '');
  const balanceCents = parseSignedAmount(balance);
  if (at === undefined || balanceCents === undefined)
    throw new ConfereError('wrong_use', '--balance must be an amount: 1234.56');
  await withContext({}, async (context) => {
    const id = await auditChange(
      context,
      (inner) => storeStatement(inner, { platform, at, balanceCents, actor: 'command', newPlatform }),
      (target) => ({ actor: 'command', action: 'statements.create', target }),
    );
    await compareStatements(context);
    const [statement] = await listStatements(context, 1, undefined, id);
    if (statement) print(json, withoutSeq(statement), describe(context, await readNames(context), statement));
  });
}

function withoutSeq({ seq: _, ...statement }: Statement) {
  return statement;
}

type Names = ReadonlyMap<string, string>;

async function readNames({ db }: Context): Promise<Names> {
  return new Map((await listPlatformNames(db)).map(({ platform, name }) => [platform, name]));
}

/** One line: the instant on the provider's clock, and the platform's id with its name. */
function describe(context: Context, names: Names, row: Statement): string {
  const name = names.get(row.platform);
  const platform = name === undefined ? row.platform : `${row.platform} (${name})`;
  return `${row.id}  ${formatTime(context, row.at)}  ${platform}  stated R$ ${row.balance}  ledger R$ ${row.ledger}  difference R$ ${row.difference}`;
}

/** `confere platforms …`: names for the platforms' ids, which the sheets and the console show. */
export function platformsCommand(program: Command): void {
  const platforms = program.command('platforms').description('names for the ids of platforms');
  platforms
    .command('name <id> [name]')
    .description('name a platform; without a name, take its name back')
    .option('--json', 'print one JSON object')
    .action((id: string, name: string | undefined, { json }: { json?: boolean }) =>
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
    .action(({ json }: { json?: boolean }) =>
      withContext({}, async (context) => {
        const named = await listPlatformNames(context.db);
        print(json, { platforms: named }, named.map((one) => `${one.platform}  ${one.name}`).join('\n') || 'none');
      }),
    );
}
