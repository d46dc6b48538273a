import type { Command } from 'commander';
import { OPERATIONS } from '../../domain/statuses.ts';
import { checkCommissions } from '../../ledger/stated/compare-charges.ts';
import { addCommission, commissions, undoCommission } from '../../operations/books/commissions.ts';
import type { RowOf } from '../../operations/define-list.ts';
import { changeCommand, listCommand } from '../operation-commands.ts';
import { parseDay } from '../parse-options.ts';
import { print, withContext } from '../with-context.ts';

/** `confere commissions …`: contracts of the provider's commissions, and the check of payments against them. */
export function commissionsCommand(program: Command): void {
  const group = program.command('commissions').description('contracts of what the provider may charge');
  changeCommand(group, 'state', addCommission, {
    description: 'state a contract; a newer one takes precedence',
    options: {
      '--operation <operation>': OPERATIONS.join(', '),
      '--fixed <amount>': 'a decimal text: 0.10',
      '--basis-points <n>': 'hundredths of a percent of the amount: 99 is 0.99 %',
      '--from <day>': 'the first day of payment that it covers',
      '--to <day>': 'the last day (default: until another contract is stated)',
      '--platform <id>':
        'only for this platform; none: transactions without one (default: each platform without its own contract)',
    },
    read: ({ basis_points: points }) => ({ basis_points: Number(points) }),
    say: describe,
  });
  changeCommand(group, 'undo <id>', undoCommission, {
    description: 'withdraw a contract',
    argument: 'withdraws',
    say: describe,
    formerly: ['withdraw'],
  });
  listCommand(group, commissions, { description: 'the newest contracts', say: describe });
  group
    .command('check')
    .description('check payments that are already booked against the contracts')
    .requiredOption('--from <day>', 'the first day of payment')
    .requiredOption('--to <day>', 'the last one')
    .option('--json', 'print one JSON object')
    .action(async (options: { json?: boolean; from: string; to: string }) => {
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

function describe(row: RowOf<typeof commissions>): string {
  const where = row.platform ?? 'every platform';
  const state = row.withdrawn ? '  (withdrawn)' : '';
  return `${row.id}  ${row.operation}  ${where}  R$ ${row.fixed} + ${row.basis_points} bp  ${row.from} to ${row.to ?? '…'}${state}`;
}
