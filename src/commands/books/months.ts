import type { Command } from 'commander';
import type { Context } from '../../context.ts';
import { boundsOfMonth, isMonth, type Month } from '../../domain/calendar.ts';
import { wrongUse } from '../../domain/errors.ts';
import { countOrders } from '../../expected/read/count-orders.ts';
import { closeOneMonth, months, presentWithOrders, reopenOneMonth } from '../../operations/books/months.ts';
import { COMMAND, makeChange } from '../../operations/define-change.ts';
import { readMonth } from '../../reports/months/list-months.ts';
import { MonthRefusedError, type PresentedRefusal, presentRefusal } from '../../reports/months/refusal.ts';
import { describe, refuseField } from '../../texts/refuse.ts';
import { listCommand } from '../operation-commands.ts';
import { formatTime, print, withContext } from '../with-context.ts';

type Options = { month: string; note?: string | undefined; check?: boolean; json?: boolean };

/** `confere close`: closes a month, or says everything that keeps it open. */
export function closeCommand(program: Command): void {
  program
    .command('close')
    .description(
      'close a month: its files keep the figures of now, and later changes are adjustments of the next month',
    )
    .requiredOption('--month <month>', 'the month: YYYY-MM')
    .option('--note <text>', 'a remark')
    .option('--check', 'only say what keeps it from being closed')
    .option('--json', 'print one JSON object')
    .action((options: Options) => {
      const month = parseMonth(options.month);
      return withContext({}, (context) =>
        options.check ? check(context, month, options) : close(context, month, options),
      );
    });
}

/** `confere reopen`: reopens a closed month, with the reason. */
export function reopenCommand(program: Command): void {
  program
    .command('reopen')
    .description('reopen a closed month, if no later one is closed: its files show the newest figures again')
    .requiredOption('--month <month>', 'the month: YYYY-MM')
    .requiredOption('--note <text>', 'why')
    .option('--json', 'print one JSON object')
    .action(({ month: text, note: why = '', json }: Options) => {
      const [month, note] = [parseMonth(text), why];
      return withContext({}, (context) =>
        orRefused(json, month, async () => {
          const by = { caller: COMMAND, id: month };
          const { made: changed } = await makeChange(context, reopenOneMonth, { given: { note }, by });
          print(json, await present(context, month), changed ? `reopened ${month}` : `${month} is open already`);
        }),
      );
    });
}

/** `confere months`: which are closed. */
export function monthsCommand(program: Command): void {
  listCommand(program, months, {
    name: 'months',
    description: 'all months, the newest first: running, open or closed, when and by whom',
    isWhole: true,
    say: ({ month, state, close: row }, context) =>
      row
        ? `${month}  closed   ${formatTime(context, row.at)}  ${row.actor}  position ${row.position}`
        : `${month}  ${state}`,
  });
}

async function close(context: Context, month: Month, { note, json }: Options): Promise<number> {
  return await orRefused(json, month, async () => {
    const by = { caller: COMMAND, id: month };
    const { made: changed } = await makeChange(context, closeOneMonth, { given: { note }, by });
    const shown = await present(context, month);
    const words = `${changed ? 'closed' : 'was closed already:'} ${month} at position ${shown.position}`;
    print(json, shown, `${words}, digest ${shown.digest}`);
  });
}

async function check(context: Context, month: Month, { json }: Options): Promise<number> {
  const { refusals: found, leavesOpen } = await read(context, month);
  const refusals = found.map((one) => presentRefusal(one));
  const left = leavesOpen === undefined ? '' : `; ${leavesOpen} has entries and would stay open`;
  if (refusals.length === 0)
    print(
      json,
      { month, refusals, leaves_open: leavesOpen ?? null },
      `nothing keeps ${month} from being closed${left}${await describeOrders(context, month)}`,
    );
  else printRefusals(json, month, refusals);
  return refusals.length === 0 ? 0 : 1;
}

/** The line about orders, where some are unpaid or to decide. */
async function describeOrders(context: Context, month: Month): Promise<string> {
  const { unpaid, undecided } = await countOrders(context, boundsOfMonth(month));
  return unpaid + undecided === 0 ? '' : `\nof the orders due in it, ${unpaid} are unpaid and ${undecided} to decide`;
}

/** @returns the exit code: 1 where the month was refused, with every reason on a line of its own. */
async function orRefused(json: boolean | undefined, month: Month, work: () => Promise<void>): Promise<number> {
  try {
    await work();
    return 0;
  } catch (error) {
    if (!(error instanceof MonthRefusedError)) throw error;
    printRefusals(
      json,
      month,
      error.refusals.map((one) => presentRefusal(one)),
    );
    return 1;
  }
}

function printRefusals(json: boolean | undefined, month: Month, refusals: PresentedRefusal[]): void {
  if (json) print(true, { month, refusals }, '');
  else process.stderr.write(`${month} is as it was:\n${refusals.map(({ detail }) => `- ${detail}\n`).join('')}`);
}

async function present(context: Context, month: Month) {
  return await presentWithOrders(context, await read(context, month));
}

async function read(context: Context, month: Month) {
  const shown = await readMonth(context, month);
  if (shown) return shown;
  throw refuseField('month', 'month_not_begun', { month });
}

function parseMonth(text: string): Month {
  if (isMonth(text)) return text;
  throw wrongUse(`--month ${describe('month_wrong', {})}`);
}
