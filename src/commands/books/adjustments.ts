import type { Command } from 'commander';
import { ADJUSTMENT_KINDS } from '../../ledger/stated/adjust-books.ts';
import { addAdjustment, adjustments, undoAdjustment } from '../../operations/books/adjustments.ts';
import type { RowOf } from '../../operations/define-list.ts';
import { changeCommand, listCommand } from '../operation-commands.ts';

/** `confere adjustments …`: enters what the provider's list does not show, lists it and takes it back. */
export function adjustmentsCommand(program: Command): void {
  const group = program
    .command('adjustments')
    .description("movements that the provider's list does not show: withdrawals, fees, blocks");
  changeCommand(group, 'add', addAdjustment, {
    description: 'book an adjustment at the start of a day: a positive amount adds to what is available',
    options: {
      '--platform <id>': 'the platform; none: transactions without one',
      '--day <day>': 'its day, YYYY-MM-DD; not a future one, nor before the opening',
      '--kind <kind>': ADJUSTMENT_KINDS.join(', '),
      '--amount <amount>': 'the amount, such as 1234.56; a leading - for what left the account',
      '--note <text>': 'why',
      '--bank-account <account>': 'of kind bank: the account on the other side',
      '--new-platform': 'the platform is meant, though no transaction shows it yet',
    },
    say: describe,
  });
  listCommand(group, adjustments, {
    description: 'the newest adjustments',
    say: describe,
  });
  changeCommand(group, 'undo <id>', undoAdjustment, {
    description: 'reverse an adjustment at its own day; both stay in the list',
    argument: 'reverses',
    options: { '--note <text>': 'why' },
    say: describe,
    formerly: ['reverse'],
  });
}

function describe(row: RowOf<typeof adjustments>): string {
  const reversal = row.reverses === null ? '' : `  reverses ${row.reverses}`;
  return `${row.id}  ${row.day}  ${row.platform}  ${row.kind}  R$ ${row.amount}${reversal}  ${row.note}`;
}
