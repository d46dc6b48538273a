import type { Command } from 'commander';
import { auditChange } from '../../access/audit.ts';
import { isDay } from '../../domain/calendar.ts';
import { ConfereError } from '../../domain/errors.ts';
import { LOOKBACK_DAYS } from '../../domain/late-days.ts';
import { formatAmount, parseSignedAmount } from '../../domain/money.ts';
import { compareStatements } from '../../ledger/stated/state-balance.ts';
import { finishReposts, reverseOpeningEntry } from '../../ledger/stated/state-opening.ts';
import { openBooks } from '../../reconciliation/runs/open-books.ts';
import { print, withContext } from '../with-context.ts';

type Options = {
  day?: string;
  platform?: string;
  balance?: string;
  newPlatform?: boolean;
  reverse?: string;
  json?: boolean;
};

export function openCommand(program: Command): void {
  program
    .command('open')
    .description("state a platform's balance (available and held) at the start of a day: its books start there")
    .option('--day <day>', 'the first day of the books, YYYY-MM-DD; not a future one')
    .option('--platform <id>', 'the platform; none: transactions without one')
    .option('--balance <amount>', 'the balance, such as 1234.56; a leading - for a debt')
    .option('--new-platform', 'the platform is meant, though no transaction shows it yet')
    .option('--reverse <id>', 'reverse an opening, so that another can be stated')
    .option('--json', 'print one JSON object')
    .action(async ({ day = '', platform = '', balance = '', newPlatform, reverse, json }: Options) => {
      if (reverse !== undefined) {
        await withContext({}, async (context) => {
          const done = { actor: 'command', action: 'openings.reverse', target: reverse };
          await auditChange(context, (inner) => reverseOpeningEntry(inner, reverse), done);
          await finishReposts(context);
          await compareStatements(context);
          print(json, { reverses: reverse }, `reversed ${reverse}`);
        });
        return;
      }
      const balanceCents = parseSignedAmount(balance);
      if (platform === '') throw new ConfereError('wrong_use', '--platform must be the id of a platform');
      if (!isDay(day)) throw new ConfereError('wrong_use', '--day must be a day: YYYY-MM-DD');
      if (balanceCents === undefined) throw new ConfereError('wrong_use', '--balance must be an amount: 1234.56');
      await withContext({}, async (context) => {
        const { id, run } = await auditChange(
          context,
          (inner) => openBooks(inner, { platform, day, balanceCents, actor: 'command', newPlatform }),
          (opened) => ({ actor: 'command', action: 'openings.create', target: opened.id }),
        );
        await finishReposts(context);
        await compareStatements(context);
        const opening = { id, platform, day, balance: formatAmount(balanceCents), run };
        const reads = run === null ? '' : `\n${run} reads what began up to ${LOOKBACK_DAYS} days before: serve runs it`;
        print(json, opening, `opened ${platform} on ${day} with R$ ${opening.balance} (${id})${reads}`);
      });
    });
}
