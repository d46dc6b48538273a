import type { Command } from 'commander';
import { LOOKBACK_DAYS } from '../../domain/late-days.ts';
import { addOpening, undoOpening } from '../../operations/books/openings.ts';
import type { OpenedBooks } from '../../reconciliation/runs/open-books.ts';
import { changeCommand } from '../operation-commands.ts';

type Opened = { id: string; platform: string; day: string; balance: string };

/** `confere open`: begins the books of a platform; `--undo <id>` takes an opening back. */
export function openCommand(program: Command): void {
  changeCommand<unknown, string | OpenedBooks, Opened>(program, 'open', [addOpening, undoOpening], {
    description: "state a platform's balance (available and held) at the start of a day: its books start there",
    options: {
      '--day <day>': 'the first day of the books, YYYY-MM-DD; not a future one',
      '--platform <id>': 'the platform; none: transactions without one',
      '--balance <amount>': 'the balance, such as 1234.56; a leading - for a debt',
      '--new-platform': 'the platform is meant, though no transaction shows it yet',
      '--undo <id>': 'reverse an opening, so that another can be stated',
    },
    formerOptions: ['--reverse <id>'],
    fields: { undo: 'reverses', reverse: 'reverses' },
    json: ({ id, platform, day, balance }: Opened, { made }) =>
      typeof made === 'string' ? { reverses: made } : { id, platform, day, balance, run: made?.run ?? null },
    say({ id, platform, day, balance }: Opened, { made }) {
      if (typeof made === 'string') return `reversed ${made}`;
      const reads = made?.run ? `\n${made.run} reads what began up to ${LOOKBACK_DAYS} days before: serve runs it` : '';
      return `opened ${platform} on ${day} with R$ ${balance} (${id})${reads}`;
    },
  });
}
