import type { Command } from 'commander';
import type { Context } from '../../context.ts';
import { isMonth, type Month } from '../../domain/calendar.ts';
import { ConfereError } from '../../domain/errors.ts';
import { closeMonth } from '../../reports/months/close-month.ts';
import { listMonths, presentMonth, presentShownMonth, readMonth } from '../../reports/months/list-months.ts';
import { MonthRefusedError, type PresentedRefusal, presentRefusal } from '../../reports/months/refusal.ts';
import { reopenMonth } from '../../reports/months/reopen-month.ts';
import { refuseField } from '../../texts/refuse.ts';
import { formatTime, print, withContext } from '../with-context.ts';

const ACTOR = 'command';

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
      const note = options.note === undefined ? undefined : options.note;
      return withContext({}, (context) =>
        options.check ? check(context, month, options) : close(context, month, { ...options, note }),
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
          const changed = await reopenMonth(context, { month, note, actor: ACTOR });
          print(json, await present(context, month), changed ? `reopened ${month}` : `${month} is open already`);
        }),
      );
    });
}

/** `confere months`: which are closed. */
export function monthsCommand(program: Command): void {
  program
    .command('months')
    .description('all months, the newest first: running, open or closed, when and by whom')
    .option('--json', 'print one JSON object')
    .action(({ json }: Options) =>
      withContext({}, async (context) => {
        const months = await listMonths(context);
        const lines = months.map(({ month, state, close: row }) =>
          row
            ? `${month}  closed   ${formatTime(context, row.at)}  ${row.actor}  position ${row.position}`
            : `${month}  ${state}`,
        );
        print(json, { months: months.map((one) => presentMonth(one)) }, lines.join('\n'));
      }),
    );
}

async function close(context: Context, month: Month, { note, json }: Options): Promise<number> {
  return await orRefused(json, month, async () => {
    const changed = await closeMonth(context, { month, note, actor: ACTOR });
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
      `nothing keeps ${month} from being closed${left}`,
    );
  else printRefusals(json, month, refusals);
  return refusals.length === 0 ? 0 : 1;
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
  return presentShownMonth(await read(context, month));
}

async function read(context: Context, month: Month) {
  const shown = await readMonth(context, month);
  if (shown) return shown;
  throw refuseField('month', 'month_not_begun', { month });
}

function parseMonth(text: string): Month {
  if (isMonth(text)) return text;
  throw new ConfereError('wrong_use', '--month must be a month: YYYY-MM');
}
