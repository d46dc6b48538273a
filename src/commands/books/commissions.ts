import type { Command } from 'commander';
import { auditChange } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import { ConfereError } from '../../domain/errors.ts';
import { parseAmount } from '../../domain/money.ts';
import { OPERATIONS } from '../../domain/statuses.ts';
import { checkCommissions } from '../../ledger/apply/check-commissions.ts';
import { listContracts, stateContract, withdrawContract } from '../../ledger/stated/commission-contracts.ts';
import { parseDay } from '../parse-options.ts';
import { print, withContext } from '../with-context.ts';

const ACTOR = 'command';
const BASIS_POINTS_MAX = 10_000;
const LIST_MAX = 200;

type Output = { json?: boolean };
type StateOptions = Output & {
  operation: string;
  fixed: string;
  basisPoints: string;
  from: string;
  to?: string;
  platform?: string;
};

/** `confere commissions …`: contracts of the provider's commissions, and the check of payments against them. */
export function commissionsCommand(program: Command): void {
  const commissions = program.command('commissions').description('contracts of what the provider may charge');
  commissions
    .command('state')
    .description('state a contract; a newer one takes precedence')
    .requiredOption('--operation <operation>', OPERATIONS.join(', '))
    .requiredOption('--fixed <amount>', 'a decimal text: 0.10')
    .requiredOption('--basis-points <n>', 'hundredths of a percent of the amount: 99 is 0.99 %')
    .requiredOption('--from <day>', 'the first day of payment that it covers')
    .option('--to <day>', 'the last day (default: until another contract is stated)')
    .option(
      '--platform <id>',
      'only for this platform; none: transactions without one (default: each platform without its own contract)',
    )
    .option('--json', 'print one JSON object')
    .action(async (options: StateOptions) => {
      const stated = readContract(options);
      await withContext({}, async (context) => {
        const id = await auditChange(
          context,
          (inner) => stateContract(inner, { ...stated, actor: ACTOR }),
          (target) => ({ actor: ACTOR, action: 'commissions.create', target }),
        );
        await show(context, id, options);
      });
    });
  commissions
    .command('withdraw <id>')
    .description('withdraw a contract')
    .option('--json', 'print one JSON object')
    .action((id: string, options: Output) =>
      withContext({}, async (context) => {
        const done = { actor: ACTOR, action: 'commissions.withdraw', target: id };
        await auditChange(context, (inner) => withdrawContract(inner, id), done);
        await show(context, id, options);
      }),
    );
  commissions
    .command('list')
    .description('the newest contracts')
    .option('--json', 'print one JSON object')
    .action((options: Output) =>
      withContext({}, async (context) => {
        const rows = (await listContracts(context.db, LIST_MAX, undefined)).map(({ seq: _, ...row }) => row);
        print(options.json, { commissions: rows }, rows.map(describe).join('\n') || 'none');
      }),
    );
  commissions
    .command('check')
    .description('check payments that are already booked against the contracts')
    .requiredOption('--from <day>', 'the first day of payment')
    .requiredOption('--to <day>', 'the last one')
    .option('--json', 'print one JSON object')
    .action(async (options: Output & { from: string; to: string }) => {
      const range = { from: parseDay('--from', options.from), to: parseDay('--to', options.to) };
      await withContext({}, async (context) => {
        const checked = await checkCommissions(context, range);
        const uncovered =
          checked.uncovered === 0 ? '' : `; ${checked.uncovered} more payments of these days have no contract`;
        print(
          options.json,
          checked,
          `${checked.payments} payments checked, ${checked.raised} new differences reported${uncovered}`,
        );
      });
    });
}

function readContract(options: StateOptions) {
  const operation = OPERATIONS.find((one) => one === options.operation);
  if (!operation) throw new ConfereError('wrong_use', `--operation must be one of ${OPERATIONS.join(', ')}`);
  const fixedCents = parseAmount(options.fixed);
  if (fixedCents === undefined) throw new ConfereError('wrong_use', '--fixed must be an amount: 0.10');
  const basisPoints = Number(options.basisPoints);
  if (!Number.isInteger(basisPoints) || basisPoints < 0 || basisPoints > BASIS_POINTS_MAX)
    throw new ConfereError('wrong_use', `--basis-points must be a whole number from 0 to ${BASIS_POINTS_MAX}`);
  const from = parseDay('--from', options.from);
  const to = options.to === undefined ? null : parseDay('--to', options.to);
  if (to !== null && to < from) throw new ConfereError('wrong_use', '--to is before --from');
  return { operation, fixedCents, basisPoints, from, to, platform: options.platform ?? null };
}

async function show(context: Context, id: string, options: Output): Promise<void> {
  const [row] = await listContracts(context.db, 1, undefined, id);
  if (!row) return;
  const { seq: _, ...contract } = row;
  print(options.json, contract, describe(contract));
}

function describe(row: Omit<Awaited<ReturnType<typeof listContracts>>[number], 'seq'>): string {
  const where = row.platform ?? 'every platform';
  const state = row.withdrawn ? '  (withdrawn)' : '';
  return `${row.id}  ${row.operation}  ${where}  R$ ${row.fixed} + ${row.basis_points} bp  ${row.from} to ${row.to ?? '…'}${state}`;
}
